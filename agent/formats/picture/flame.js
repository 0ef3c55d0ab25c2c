/* SPDX-License-Identifier: MIT */
/*
 * The script of a flame graph. It reads the cells out of the picture: each is a box with its weight, its place and its
 * texts. Without it the picture is complete, and still.
 */
(function () {
	"use strict";
	const picture = document.documentElement;
	const frame = document.getElementById("cells");
	const details = document.getElementById("details");
	const HEIGHT = 18;		/* of a row */
	const LEAST = 1e-6;		/* of the whole: what is left of sums that were rounded */
	const LEGEND_ROW = 16, SPACE = 18;	/* pixels: of a row of the legend; behind each of its entries */
	const NARROW = 940;		/* pixels: a picture that is narrower has its bar above the title */
	const TEXT_LEAST = 28, EDGES = 7;	/* pixels: a box with a text; what is beside the text */
	const schemes = ["mode", "object", "change"];
	let upward = picture.classList.contains("flame");
	let zoomed = 0, focused = 0, idle = true, pattern = null;

	const boxes = Array.from(frame.children);
	const levels = Math.max.apply(null, boxes.map((box) => Math.round(box.getAttribute("y") / HEIGHT)));
	const cells = boxes.map((box) => {
		const row = Math.round(box.getAttribute("y") / HEIGHT);
		const lines = box.querySelector("title").textContent.split("\n");

		return {
			box: box, level: upward ? levels - row : row, weight: Number(box.dataset.w), gone: Number(box.dataset.g || 0),
			lines: lines, parent: -1, end: 0, room: 0, now: 0, start: 0, rest: box.classList.contains("rest"),
			idle: box.classList.contains("t50"), text: box.querySelector("text"),
		};
	});

	/* Cells stand in order: each before those below it. Merged ones come last, right behind their parent's other ones. */
	function link() {
		const path = [];

		cells.forEach((cell, i) => {
			path.length = cell.level;
			cell.parent = cell.level ? path[cell.level - 1] : -1;
			path[cell.level] = i;
		});
		for (let i = cells.length - 1; i >= 0; i--) {
			const cell = cells[i];

			cell.end = Math.max(cell.end, i + 1);
			if (cell.parent >= 0)
				cells[cell.parent].end = Math.max(cells[cell.parent].end, cell.end);
		}
	}

	/*
	 * Of each cell: its weight now, and its room, which is that and what is gone. Both less those of idle CPUs while
	 * they are hidden.
	 */
	function measure() {
		cells.forEach((cell) => {
			cell.now = cell.weight;
			cell.room = cell.weight + cell.gone;
		});
		if (idle)
			return;
		cells.forEach((cell) => {
			const now = cell.now, room = cell.room;

			if (!cell.idle || !room)
				return;
			for (let at = cell; at; at = cells[at.parent]) {
				at.now -= now;
				at.room -= room;
			}
		});
	}

	const pen = document.createElementNS("http://www.w3.org/1999/xhtml", "canvas").getContext("2d");

	pen.font = getComputedStyle(frame).font;

	/* As much of the text as has room. No letter is narrower than two pixels. */
	function fit(text, room) {
		let most = Math.min(text.length, Math.ceil(room / 2));

		if (most === text.length && pen.measureText(text).width <= room)
			return text;
		while (most > 0 && pen.measureText(text.slice(0, most) + "…").width > room)
			most--;
		return text.slice(0, most) + "…";
	}

	function put_text(cell, pixels) {
		let text = cell.text;

		if (pixels < TEXT_LEAST) {
			if (text)
				text.textContent = "";
			return;
		}
		if (!text) {
			text = cell.text = document.createElementNS(picture.namespaceURI, "text");
			text.setAttribute("x", 4);
			text.setAttribute("y", 13);
			cell.box.appendChild(text);
		}
		text.textContent = fit(cell.lines[0], pixels - EDGES);
	}

	function place(cell, start, width, pixels) {
		cell.start = start;
		cell.box.style.display = width > LEAST ? "" : "none";
		if (width <= LEAST)
			return;
		cell.box.setAttribute("x", 100 * start + "%");
		cell.box.setAttribute("width", 100 * width + "%");
		cell.box.setAttribute("y", (upward ? levels - cell.level : cell.level) * HEIGHT);
		put_text(cell, pixels * width);
	}

	/* The zoomed cell and its callers are as wide as the picture; those below it have their part of it. */
	function layout() {
		const top = cells[zoomed], whole = top.room || 1, pixels = frame.getBoundingClientRect().width;
		const next = [];

		cells.forEach((cell, i) => {
			const above = i < zoomed && cell.end > zoomed, inside = i >= zoomed && i < top.end;

			cell.box.classList.toggle("above", above);
			if (above || i === zoomed) {
				place(cell, 0, 1, pixels);
				next[cell.level + 1] = 0;
			} else if (inside) {
				place(cell, next[cell.level] / whole, cell.room / whole, pixels);
				next[cell.level + 1] = next[cell.level];
				next[cell.level] += cell.room;
			} else
				place(cell, 0, 0, pixels);
		});
	}

	/* ---- what is said ---- */

	function share(part, whole) {
		const percent = whole ? 100 * part / whole : 0;

		return percent.toFixed(percent >= 99.95 || percent === 0 ? 0 : percent >= 10 ? 1 : percent >= 1 ? 2 : 3) + "%";
	}

	function tell(cell) {
		const lines = cell ? cell.lines.slice() : [];

		if (cell && zoomed && cell.now && cell.now <= cells[zoomed].now)
			lines.splice(1, 0, share(cell.now, cells[zoomed].now) + " of " + cells[zoomed].lines[0]);
		details.textContent = lines.join("   ") || " ";
	}

	/* ---- zoom, focus ---- */

	function focus(i) {
		cells[focused].box.removeAttribute("tabindex");
		focused = i;
		cells[i].box.setAttribute("tabindex", 0);
		cells[i].box.setAttribute("role", "button");
		cells[i].box.setAttribute("aria-label", cells[i].lines.join(", "));
		cells[i].box.focus({ preventScroll: false });
		tell(cells[i]);
	}

	function zoom(i) {
		if (cells[i].rest)
			return;
		zoomed = i;
		layout();
		tell(cells[i]);
	}

	const visible = (i) => cells[i].box.style.display !== "none";

	/* The next cell beside this one, on its level, in that direction. */
	function beside(i, step) {
		for (let at = i + step; at >= 0 && at < cells.length; at += step)
			if (cells[at].level === cells[i].level && visible(at))
				return at;
		return i;
	}

	/* The widest cell right below. */
	function below(i) {
		let found = i;

		for (let at = i + 1; at < cells[i].end; at = cells[at].end)
			if (visible(at) && (found === i || cells[at].room > cells[found].room))
				found = at;
		return found;
	}

	/* ---- search ---- */

	function compile(text, plain) {
		try {
			return text ? new RegExp(plain ? text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&") : text, "i") : null;
		} catch (error) {
			return compile(text, true);	/* no expression yet: as text */
		}
	}

	function search() {
		let weight = 0, count = 0, skip = 0;

		cells.forEach((cell, i) => {
			const match = pattern !== null && i > 0 && !cell.rest && pattern.test(cell.lines[0]);

			cell.box.classList.toggle("match", match);
			count += match;
			if (match && i >= skip) {
				weight += cell.now;
				skip = cell.end;	/* those below are in its weight */
			}
		});
		picture.classList.toggle("searching", pattern !== null);
		found.textContent = pattern === null ? "" : count + (count === 1 ? " match, " : " matches, ") +
			share(weight, cells[0].now);
		found.dataset.weight = weight;
		arrange();			/* the bar may need another row */
	}

	function next_match() {
		for (let step = 1; step <= cells.length; step++) {
			const at = (focused + step) % cells.length;

			if (cells[at].box.classList.contains("match") && visible(at))
				return focus(at);
		}
	}

	/* ---- the bar ---- */

	function element(name, properties, parent) {
		const made = document.createElementNS("http://www.w3.org/1999/xhtml", name);

		Object.assign(made, properties);
		parent.appendChild(made);
		return made;
	}

	const place_of_bar = document.createElementNS(picture.namespaceURI, "foreignObject");
	const bar = element("div", { className: "bar" }, place_of_bar);
	const found = element("output", { id: "found" }, bar);
	const field = element("input", { id: "search", type: "search", placeholder: "Search  /",
		title: "A part of names, as text or as regular expression. Keys: / or Ctrl-F; n: the next match" }, bar);
	const colours = element("select", { id: "colours", title: "What colours mean. Key: c" }, bar);
	field.setAttribute("aria-label", "Search functions");
	found.setAttribute("aria-live", "polite");
	colours.setAttribute("aria-label", "Colours");
	schemes.forEach((scheme) => {
		if (scheme !== "change" || document.querySelector(".legend.change"))
			element("option", { value: scheme, textContent: { mode: "by mode", object: "by module", change: "by change" }[scheme] },
				colours);
	});
	colours.value = schemes.find((scheme) => picture.classList.contains("by-" + scheme));

	function colour(scheme) {
		schemes.forEach((other) => picture.classList.toggle("by-" + other, other === scheme));
		colours.value = scheme;
		arrange();			/* its legend may need another row */
	}

	function is_dark() {
		return picture.classList.contains("dark") || (!picture.classList.contains("light") &&
			matchMedia("(prefers-color-scheme: dark)").matches);
	}

	const actions = {
		idle() {
			idle = !idle;
			buttons.idle.setAttribute("aria-pressed", !idle);
			measure();
			if (!cells[zoomed].room)
				zoomed = 0;
			layout();
			search();
		},
		flip() {
			upward = !upward;
			layout();
		},
		dark() {
			const dark = is_dark();

			picture.classList.toggle("dark", !dark);
			picture.classList.toggle("light", dark);
		},
		reset() {
			field.value = "";
			pattern = null;
			search();
			zoom(0);
			tell(null);
		},
	};
	const buttons = {};
	for (const [name, title, label] of [["idle", "Show idle CPUs or leave them out. Key: i", "No idle"],
		["flip", "Turn it upside down. Key: u", "Flip"], ["dark", "Dark or light. Key: d", "Dark"],
		["reset", "All again, and no search. Key: Esc", "Reset"]]) {
		buttons[name] = element("button", { id: name, title: title, textContent: label, onclick: actions[name] }, bar);
		buttons[name].setAttribute("type", "button");
	}
	if (!cells.some((cell) => cell.idle))
		buttons.idle.remove();

	/* ---- a narrow picture: the bar is above all else, texts end where the picture does, the legend has more rows ---- */

	const body = document.createElementNS(picture.namespaceURI, "g");
	const height = Number(picture.getAttribute("height"));
	const title = picture.querySelector(".title"), about = picture.querySelector(".about");
	const place_of_legend = picture.querySelector(".legend").parentNode;
	const texts = Array.from(picture.querySelectorAll(".title, .about:not(#details)"))
		.map((text) => ({ text: text, whole: text.textContent }));

	function put(element, values) {
		for (const [name, value] of Object.entries(values))
			element.setAttribute(name, value);
	}

	/* A colour and a name each, and how wide they are with the space behind them. */
	const entries_of = (legend) => Array.from(legend.querySelectorAll("text")).map((text) =>
		({ box: text.previousElementSibling, text: text, width: 16 + SPACE + Math.ceil(pen.measureText(text.textContent).width) }));
	const legends = Array.from(picture.querySelectorAll(".legend"))
		.map((legend) => ({ legend: legend, entries: entries_of(legend) }));

	/* Puts the entries of the legend that is shown in rows. Returns how high those below the first are. */
	function arrange_legend(wide) {
		const shown = legends.find((one) => getComputedStyle(one.legend).display !== "none");
		let x = 0, y = 0;

		for (const entry of shown ? shown.entries : []) {
			if (x && x + entry.width - SPACE > wide) {
				x = 0;
				y += LEGEND_ROW;
			}
			put(entry.box, { x: x, y: y });
			put(entry.text, { x: x + 16, y: y + 10 });
			x += entry.width;
		}
		return y;
	}

	function cut_texts(wide, narrow) {
		const font = pen.font;

		texts.forEach((one) => {
			pen.font = getComputedStyle(one.text).font;
			one.text.textContent = fit(one.whole, (one.text === title && !narrow ? 0.4 : 0.98) * wide);
		});
		pen.font = font;
	}

	function arrange() {
		const wide = picture.getBoundingClientRect().width, narrow = wide < NARROW;

		bar.classList.toggle("narrow", narrow);
		put(place_of_bar, narrow ? { x: "1%", y: 0, width: "98%", height: height } :
			{ x: "42%", y: 8, width: "57%", height: 34 });
		const above = narrow ? bar.offsetHeight : 0;

		put(place_of_bar, narrow ? { height: above } : {});
		const more = arrange_legend(0.98 * wide);

		put(body, { transform: "translate(0 " + (above + more) + ")" });
		put(picture, { height: height + above + more });
		put(title.parentNode, { y: -more, width: narrow ? "98%" : "41%" });
		put(about, { y: 48 - more });
		put(place_of_legend, { y: 58 - more, height: 14 + more });
		cut_texts(wide, narrow);
	}

	/* ---- keys and mouse ---- */

	const box_of = (event) => event.target.closest && boxes.indexOf(event.target.closest("#cells > svg"));

	function in_bar(event) {
		if (event.target !== field)
			return false;
		if (event.key === "Enter")
			next_match();
		else if (event.key === "Escape") {
			actions.reset();
			field.blur();
		}
		return true;
	}

	const keys = {
		ArrowUp: () => focus(upward ? below(focused) : Math.max(cells[focused].parent, 0)),
		ArrowDown: () => focus(upward ? Math.max(cells[focused].parent, 0) : below(focused)),
		ArrowLeft: () => focus(beside(focused, -1)),
		ArrowRight: () => focus(beside(focused, 1)),
		Home: () => focus(0),
		Enter: () => zoom(focused),
		" ": () => zoom(focused),
		Escape: actions.reset,
		Backspace: () => zoom(Math.max(cells[zoomed].parent, 0)),
		"/": () => field.focus(),
		n: next_match, i: actions.idle, u: actions.flip, d: actions.dark,
		c: () => colour(colours.options[(colours.selectedIndex + 1) % colours.options.length].value),
	};

	document.addEventListener("keydown", (event) => {
		if ((event.ctrlKey || event.metaKey) && event.key === "f" && document.activeElement !== field) {
			field.focus();
			event.preventDefault();
		} else if (!event.ctrlKey && !event.metaKey && !event.altKey && !in_bar(event) && keys[event.key] &&
			!(event.target.closest(".bar") && event.key.length > 1 && event.key !== "Escape") &&
			!(event.target.closest(".bar") && event.key === " ")) {
			keys[event.key]();
			event.preventDefault();
		}
	});
	frame.addEventListener("click", (event) => {
		const i = box_of(event);

		if (i >= 0 && String(getSelection()) === "") {
			focus(i);
			zoom(i);
		}
	});
	frame.addEventListener("mouseover", (event) => {
		const i = box_of(event);

		if (i >= 0)
			tell(cells[i]);
	});
	frame.addEventListener("mouseleave", () => tell(zoomed ? cells[zoomed] : null));
	field.addEventListener("input", () => {
		pattern = compile(field.value, false);
		search();
	});
	colours.addEventListener("change", () => colour(colours.value));
	addEventListener("resize", () => {
		arrange();
		layout();
	});

	picture.setAttribute("width", "100%");
	Array.from(picture.children).filter((part) => part.matches("svg, text")).forEach((part) => body.appendChild(part));
	picture.append(body, place_of_bar);
	arrange();
	boxes[0].setAttribute("tabindex", 0);
	link();
	measure();
	layout();
})();
