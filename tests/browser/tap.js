// SPDX-License-Identifier: MIT
/* The verdicts of a test, printed as TAP. */
"use strict";
let number = 0, failed = 0;

function verdict(what, good, seen) {
	number++;
	failed += !good;
	console.log((good ? "ok " : "not ok ") + number + " - " + what);
	if (!good)
		console.log("# " + (JSON.stringify(seen) || "").slice(0, 2000));
}

function same(what, seen, wanted) {
	verdict(what, JSON.stringify(seen) === JSON.stringify(wanted), { seen, wanted });
}

/* Runs the test to its end, which sets the exit status. A test that returns a text was skipped, for this reason. */
function run(test) {
	test().then((skipped) => {
		console.log(skipped ? "1..0 # SKIP " + skipped : "1.." + number);
		process.exitCode = failed ? 1 : 0;
	}).catch((error) => {
		console.log("not ok " + (number + 1) + " - it ran to its end");
		console.log("# " + error.stack.split("\n").join("\n# "));
		process.exitCode = 1;
	});
}

module.exports = { verdict, same, run };
