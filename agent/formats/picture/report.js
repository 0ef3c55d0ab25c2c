/* SPDX-License-Identifier: MIT */
/*
 * The script of a report. Its data are in the page, as arrays: functions, cells (each before those below it), parts (what
 * ran in one mode in a cell itself), and bins of time with the weights of parts. A range of time, once chosen, gives
 * each part another weight, and all is drawn anew.
 */
(function () {
	"use strict";
	const data = JSON.parse(document.getElementById("data").textContent);
	const root = document.documentElement, main = document.getElementById("main");
	const HEIGHT = 18, TEXT_LEAST = 28, SHADES = data.tones.length / data.tone_names.length;
	const IDLE = data.tone_names.indexOf("idle");
	const GONE_EDGE = "#2f5fa8";
	const ROWS = 150;		/* of the table, at first */
	const CALLERS_LEAST = 0.0005;	/* callers of less than this share are merged */
	const MODE_TONES = data.mode_names.map((name) => data.tone_names.indexOf(name));
	const sum = (list) => list.reduce((all, number) => all + number, 0);
	const whole_weight = sum(data.weight), whole_ns = sum(data.ns);

	/* What all parts of the page follow. */
	const state = {
		first: 0, last: data.bins ? data.bins.lists.length : 0,	/* bins: the range, or all */
		idle: true, scheme: data.scheme, flame: data.flame, pattern: null, selected: -1, sort: "self", down: true, rows: ROWS,
	};
	const bins = state.last;

	/* ---- numbers as text ---- */

	const count_text = (count) => Math.round(count).toLocaleString("en-US");

	function share_text(part, whole) {
		const percent = whole ? 100 * part / whole : 0;

		return percent.toFixed(percent >= 99.95 || percent === 0 ? 0 : percent >= 10 ? 1 : percent >= 1 ? 2 : 3) + "%";
	}

	function time_text(ns) {
		const ms = ns / 1e6;

		return ms < 1 ? Number(ms.toPrecision(3)) + " ms" : ms < 1000 ? Number(ms.toPrecision(3)) + " ms" :
			(ms / 1000).toFixed(ms < 10000 ? 2 : ms < 100000 ? 1 : 0) + " s";
	}

	/* A weight in the most telling unit that is known. */
	const amount_text = (weight) => whole_ns ? time_text(weight * whole_ns / whole_weight) :
		count_text(weight) + " " + (data.unit || "samples");

	/* ---- trees: arrays of levels, functions, ends and totals ---- */

	/* ends[i]: the first cell behind i that is not below it. Works for any levels in this order. */
	function ends_of(level) {
		const count = level.length, ends = new Uint32Array(count), open = [];

		for (let i = 0; i < count; i++) {
			while (open.length && level[open[open.length - 1]] >= level[i])
				ends[open.pop()] = i;
			open.push(i);
		}
		for (const i of open)
			ends[i] = count;
		return ends;
	}

	const count = data.level.length + 1;	/* cells, with the root */
	const level = new Uint32Array(count), function_of = new Int32Array(count), parent = new Int32Array(count);
	const colour_of = new Uint8Array(count);
	level.set(data.level, 1);
	function_of.set(data.function, 1);
	colour_of.set(data.colour, 1);
	function_of[0] = parent[0] = -1;
	const ends = ends_of(level);
	for (let i = 1, path = [0]; i < count; i++) {
		parent[i] = path[level[i] - 1];
		path[level[i]] = i;
	}
	const tone_of = (cell) => Math.floor(colour_of[cell] / SHADES);

	const used_tones = data.tone_names.map(() => false);
	for (let i = 1; i < count; i++)
		used_tones[tone_of(i)] = true;
	if (data.bins)				/* the time line has modes, also those of functions without names */
		data.part_mode.forEach((mode) => { used_tones[MODE_TONES[mode]] = true; });

	/* The tone of each function in most of its weight, for the table and the callers. */
	const function_colour = new Uint8Array(data.names.length);
	const self = new Float64Array(count), total = new Float64Array(count);
	const function_self = new Float64Array(data.names.length), function_total = new Float64Array(data.names.length);
	const before_self = new Float64Array(count), before_total = new Float64Array(count);
	const cell_samples = new Float64Array(count), cell_samples_before = new Float64Array(count);
	const function_before = new Float64Array(data.names.length), function_samples = new Float64Array(data.names.length);
	const function_samples_before = new Float64Array(data.names.length);
	const function_samples_self = new Float64Array(data.names.length);
	const widths = data.before ? new Float64Array(count) : total;	/* with what is gone, as wide as its share was */

	/* The weights and samples of parts in the range. */
	function amounts() {
		if (!bins || (state.first === 0 && state.last === bins))
			return { weight: data.weight, samples: data.samples };
		const weight = new Float64Array(data.weight.length), samples = new Float64Array(data.weight.length);

		for (let bin = state.first; bin < state.last; bin++)
			for (let i = 0, list = data.bins.lists[bin]; i < list.length; i += 3) {
				weight[list[i]] += list[i + 1];
				samples[list[i]] += list[i + 2];
			}
		return { weight: weight, samples: samples };
	}

	function sum_up(own, into) {
		into.set(own);
		for (let i = count - 1; i > 0; i--)
			into[parent[i]] += into[i];
	}

	/* Each function's total: of a function that calls itself, only the outermost cell counts. */
	function totals_of(from, into) {
		const open = new Uint32Array(data.names.length), path = [];

		into.fill(0);
		for (let i = 1; i < count; i++) {
			while (path.length && ends[path[path.length - 1]] <= i)
				open[function_of[path.pop()]]--;
			if (!open[function_of[i]]++)
				into[function_of[i]] += from[i];
			path.push(i);
		}
	}

	function add_parts(values, into) {
		into.fill(0);
		for (let i = 0; i < values.length; i++)
			if (state.idle || tone_of(data.part_cell[i]) !== IDLE)
				into[data.part_cell[i]] += values[i];
	}

	const is_gone = (cell) => !total[cell] && before_total[cell] > 0;

	function find_widths() {
		const scale = total[0] && before_total[0] ? total[0] / before_total[0] : 1;

		widths.fill(0);
		for (let i = count - 1; i >= 0; i--) {
			const gone = is_gone(i) ? before_total[i] * scale : widths[i];

			widths[i] = total[i] + gone;
			if (i > 0)
				widths[parent[i]] += gone;
		}
	}

	function compute() {
		const now = amounts(), own = new Float64Array(count);

		add_parts(now.weight, self);
		sum_up(self, total);
		totals_of(total, function_total);
		add_parts(now.samples, own);
		function_self.fill(0);
		function_samples_self.fill(0);
		for (let i = 1; i < count; i++) {
			function_self[function_of[i]] += self[i];
			function_samples_self[function_of[i]] += own[i];
		}
		if (data.before) {
			add_parts(data.before, before_self);
			sum_up(before_self, before_total);
			totals_of(before_total, function_before);
			sum_up(own, cell_samples);
			totals_of(cell_samples, function_samples);
			add_parts(data.samples_before, own);
			sum_up(own, cell_samples_before);
			totals_of(cell_samples_before, function_samples_before);
			find_widths();
		}
	}

	function colour_functions() {
		const most = new Float64Array(data.names.length);

		for (let i = 1; i < count; i++)
			if (self[i] >= most[function_of[i]]) {
				most[function_of[i]] = self[i];
				function_colour[function_of[i]] = colour_of[i];
			}
	}

	/*
	 * The tree from where time is spent: the roots are the functions that ran themselves, below each are its callers.
	 * The widest stand first. Callers of hardly any weight are merged into what is left of their cell.
	 */
	function callers_tree() {
		const tree = { level: [0], function: [-1], total: [total[0]], merged: 0 };
		const least = total[0] * CALLERS_LEAST;

		function add(cells, amounts, depth) {
			const groups = new Map();

			for (let i = 0; i < cells.length; i++) {
				const cell = cells[i], what = function_of[cell];
				let group = groups.get(what);

				if (!group)
					groups.set(what, group = { what: what, weight: 0, cells: [], amounts: [] });
				group.weight += amounts[i];
				if (parent[cell] > 0) {
					group.cells.push(parent[cell]);
					group.amounts.push(amounts[i]);
				}
			}
			for (const group of Array.from(groups.values()).sort((a, b) => b.weight - a.weight || a.what - b.what)) {
				if (group.weight < least) {
					tree.merged++;
					continue;
				}
				tree.level.push(depth);
				tree.function.push(group.what);
				tree.total.push(group.weight);
				if (group.cells.length)
					add(group.cells, group.amounts, depth + 1);
			}
		}
		const leaves = [], amounts = [];

		for (let i = 1; i < count; i++)
			if (self[i] > 0) {
				leaves.push(i);
				amounts.push(self[i]);
			}
		add(leaves, amounts, 1);
		tree.ends = ends_of(tree.level);
		tree.widths = tree.total;
		return tree;
	}

	/* ---- colours ---- */

	const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();

	const share_of = (part, whole) => whole ? part / whole : 0;

	/* As agent/base/change.h has it: its share now, less that before, and whether that may be chance. */
	function change_of(now, was, samples, samples_was) {
		const share = share_of(now, total[0]) - share_of(was, before_total[0]);
		const weight = now + was, whole = total[0] + before_total[0], both = share_of(weight, whole);
		const count_of = samples + samples_was, all = cell_samples[0] + cell_samples_before[0];
		const part = share_of(weight, count_of), rest = share_of(whole - weight, all - count_of);
		const limit = 6.635 * both * (1 - both) * ((1 - both) * part + both * rest) * (1 / total[0] + 1 / before_total[0]);

		return { share: share, chance: !total[0] || !before_total[0] || share * share <= limit,
			word: now && !was ? "new " : was && !now ? "gone " : "" };
	}

	const change_of_cell = (i) => change_of(total[i], before_total[i], cell_samples[i], cell_samples_before[i]);

	/* What was merged may have a function that seems new or gone. */
	function change_of_function(what) {
		const change = change_of(function_total[what], function_before[what], function_samples[what],
			function_samples_before[what]);

		return data.merged ? Object.assign(change, { word: "" }) : change;
	}

	function change_text(change) {
		return change.word + (change.chance ? "~" : "") + (change.share < 0 ? "" : "+") + (100 * change.share).toFixed(2);
	}

	function change_colour(change) {
		const size = change.chance ? 0 : Math.abs(change.share);
		const step = size === 0 ? 0 : size > 0.03 ? 4 : size > 0.01 ? 3 : size > 0.0025 ? 2 : 1;

		return data.change_colours[4 + Math.sign(change.share) * step];
	}

	function function_tint(what) {
		return state.scheme === "object" ? data.object_colours[data.object_colour[what]] :
			state.scheme === "change" ? change_colour(change_of_function(what)) :
				data.tones[function_colour[what]];
	}

	/* ---- elements ---- */

	function element(name, properties, parent_element) {
		const made = document.createElement(name);

		for (const [key, value] of Object.entries(properties || {}))
			if (key in made)
				made[key] = value;
			else
				made.setAttribute(key, value);
		if (parent_element)
			parent_element.appendChild(made);
		return made;
	}

	function section(id, title) {
		const made = element("section", { id: id, "aria-label": title }, main);
		const head = element("div", { className: "head" }, made);

		element("h2", { textContent: title }, head);
		return { element: made, head: head, note: element("span", { className: "note" }, head) };
	}

	/* A canvas as wide as its place, sharp on each screen. Returns what draws on it. */
	function prepare(canvas, height) {
		const ratio = devicePixelRatio || 1, width = canvas.clientWidth;

		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.height = height + "px";
		const pen = canvas.getContext("2d");

		pen.scale(ratio, ratio);
		pen.font = "12px " + getComputedStyle(document.body).fontFamily;
		pen.textBaseline = "middle";
		return pen;
	}

	function cut(text, most) {
		return text.length <= most ? text : text.slice(0, Math.max(most - 1, 0)) + "…";
	}

	/* As much of the text as has room. No letter is narrower than two pixels. */
	function fit(pen, text, room) {
		let most = Math.min(text.length, Math.ceil(room / 2));

		if (most === text.length && pen.measureText(text).width <= room)
			return text;
		while (most > 0 && pen.measureText(text.slice(0, most) + "…").width > room)
			most--;
		return text.slice(0, most) + "…";
	}

	function match(what) {
		return what >= 0 && state.pattern !== null && state.pattern.test(data.names[what]);
	}

	/* ---- flames ---- */

	/*
	 * Draws a tree and lets people walk in it. `tree()` gives its arrays: each cell is as wide as `widths`, and has the
	 * share of `total`. `tint(i)`: the colour of a cell.
	 */
	class Flame {
		constructor(part, tree, tint, upward) {
			this.tree = tree;
			this.tint = tint;
			this.upward = upward;
			this.zoomed = this.focused = 0;
			this.boxes = [];
			this.canvas = element("canvas", { tabIndex: 0, role: "application",
				"aria-label": "Arrows move, Enter zooms, Escape resets" }, part.element);
			this.details = element("div", { className: "details", "aria-live": "polite" }, part.element);
			this.note = part.note;
			this.canvas.addEventListener("click", (event) => {
				const box = this.hit(event);

				if (box) {
					this.focused = box.i;
					this.zoom(box.i);
				}
			});
			this.canvas.addEventListener("mousemove", (event) => this.hover(this.hit(event)));
			this.canvas.addEventListener("mouseleave", () => this.tell(this.focused));
			this.canvas.addEventListener("keydown", (event) => {
				const action = this.keys()[event.key];

				if (action && !event.ctrlKey && !event.altKey && !event.metaKey) {
					action();
					event.preventDefault();
					event.stopPropagation();
				}
			});
			this.canvas.addEventListener("focus", () => this.draw());
			this.canvas.addEventListener("blur", () => this.draw());
		}

		/* Finds the boxes that are at least a third of a pixel wide. */
		layout(width) {
			const tree = this.tree(), next = [], whole = tree.widths[this.zoomed] || 1, end = tree.ends[this.zoomed];
			const depth = tree.level[this.zoomed];

			this.boxes = [];
			this.merged = 0;
			for (let i = 0; i < this.zoomed; i++)
				if (tree.ends[i] > this.zoomed)
					this.boxes.push({ i: i, x: 0, width: width, level: tree.level[i], above: true });
			next[depth] = 0;
			for (let i = this.zoomed; i < end; i++) {
				const at = tree.level[i], wide = width * tree.widths[i] / whole;

				next[at + 1] = next[at];
				if (wide >= 1 / 3)
					this.boxes.push({ i: i, x: next[at], width: wide, level: at, above: false });
				next[at] += wide;
				if (wide < 1 / 3) {
					if (wide > 0)
						this.merged += tree.ends[i] - i;
					i = tree.ends[i] - 1;
				}
			}
			this.levels = this.boxes.reduce((most, box) => Math.max(most, box.level), 0) + 1;
		}

		draw() {
			const tree = this.tree();

			if (this.zoomed >= tree.level.length || (this.zoomed && !tree.widths[this.zoomed]))
				this.zoomed = this.focused = 0;
			this.layout(this.canvas.clientWidth);
			const pen = prepare(this.canvas, this.levels * HEIGHT), tone = Number(style("--tone"));
			const names = ["--root", "--match", "--ink", "--paper"].map(style);

			this.pen = pen;
			for (const box of this.boxes)
				this.draw_box(pen, tree, box, tone, names);
			this.note.textContent = this.zoomed ? share_text(tree.total[this.zoomed], tree.total[0]) + " of all: " +
				cut(data.names[tree.function[this.zoomed]], 80) : this.merged + (tree.merged || 0) ?
				count_text(this.merged + (tree.merged || 0)) + " narrow frames are not drawn" : "";
			const gone = tree.gone && !this.zoomed ? tree.gone() : "";

			if (gone)
				this.note.textContent += (this.note.textContent ? "; " : "") + gone;
			this.tell(this.focused);
		}

		draw_box(pen, tree, box, tone, names) {
			const what = tree.function[box.i], y = this.y(box), hit = match(what);
			const [back, matched, ink, paper] = names, gone = tree.is_gone && tree.is_gone(box.i);

			pen.globalAlpha = what < 0 ? 1 : (box.above ? 0.55 : 1) * (hit ? 1 : state.pattern ? 0.4 : gone ? 0.45 : tone);
			pen.fillStyle = what < 0 ? back : hit ? matched : this.tint(box.i);
			pen.fillRect(box.x, y, Math.max(box.width - (box.width > 3 ? 0.8 : 0), 0.5), HEIGHT - 1);
			pen.globalAlpha = 1;
			if (gone && box.width > 3)
				this.draw_dashes(pen, box.x, y, box.width);
			if ((box.i === this.focused && document.activeElement === this.canvas) || (what >= 0 && what === state.selected)) {
				pen.strokeStyle = ink;
				pen.lineWidth = 1.6;
				pen.strokeRect(box.x + 1, y + 1, Math.max(box.width - 2.6, 1), HEIGHT - 3);
			}
			if (box.width < TEXT_LEAST)
				return;
			pen.fillStyle = what < 0 || (state.pattern && !hit) || (gone && !hit) ? ink : hit ? paper : "#14171a";
			pen.fillText(fit(pen, what < 0 ? "all" : data.names[what], box.width - 7), box.x + 4, y + HEIGHT / 2);
		}

		draw_dashes(pen, x, y, width) {
			pen.strokeStyle = GONE_EDGE;
			pen.lineWidth = 1;
			pen.setLineDash([4, 2]);
			pen.strokeRect(x + 0.5, y + 0.5, width - 1.8, HEIGHT - 2);
			pen.setLineDash([]);
		}

		y(box) {
			return (this.upward() ? this.levels - 1 - box.level : box.level) * HEIGHT;
		}

		hit(event) {
			const at = this.canvas.getBoundingClientRect(), x = event.clientX - at.left, y = event.clientY - at.top;

			return this.boxes.find((box) => x >= box.x && x < box.x + box.width && y >= this.y(box) && y < this.y(box) + HEIGHT);
		}

		texts(i) {
			const tree = this.tree(), what = tree.function[i], texts = [what < 0 ? "all" : data.names[what]];

			texts.push(share_text(tree.total[i], tree.total[0]) + " of all");
			if (this.zoomed && i >= this.zoomed && i < tree.ends[this.zoomed] && tree.total[i] > 0)
				texts.push(share_text(tree.total[i], tree.total[this.zoomed]) + " of the zoomed");
			texts.push(amount_text(tree.total[i]));
			if (tree.change && i > 0)
				texts.push("before " + share_text(before_total[i], before_total[0]) + ": " + change_text(tree.change(i)) + " points");
			if (what >= 0) {
				texts.push(data.objects[data.object[what]]);
				if (data.files[data.file[what]])
					texts.push(data.files[data.file[what]] + (data.line[what] ? ":" + data.line[what] : ""));
			}
			return texts.filter((text) => text);
		}

		tell(i) {
			this.details.textContent = this.texts(Math.min(i, this.tree().level.length - 1)).join(" · ");
		}

		hover(box) {
			this.canvas.title = box ? this.texts(box.i).join("\n") : "";
			this.tell(box ? box.i : this.focused);
		}

		zoom(i) {
			this.zoomed = i;
			this.draw();
		}

		focus(i) {
			this.focused = i;
			this.draw();
		}

		reset() {
			this.zoomed = this.focused = 0;
			this.draw();
		}

		parent_of(i) {
			const tree = this.tree();
			let at = i;

			while (at > 0 && tree.level[at] >= tree.level[i])
				at--;
			return at;
		}

		/* The widest cell right below. */
		below(i) {
			const tree = this.tree();
			let found = i;

			for (let at = i + 1; at < tree.ends[i]; at = tree.ends[at])
				if (found === i || tree.widths[at] > tree.widths[found])
					found = at;
			return tree.widths[found] > 0 ? found : i;
		}

		beside(i, step) {
			const row = this.boxes.filter((box) => box.level === this.tree().level[i] && !box.above);
			const at = row.findIndex((box) => box.i === i) + step;

			return at >= 0 && at < row.length ? row[at].i : i;
		}

		keys() {
			const up = () => this.focus(this.parent_of(this.focused)), down = () => this.focus(this.below(this.focused));

			return {
				ArrowUp: this.upward() ? down : up, ArrowDown: this.upward() ? up : down,
				ArrowLeft: () => this.focus(this.beside(this.focused, -1)),
				ArrowRight: () => this.focus(this.beside(this.focused, 1)),
				Home: () => this.focus(0),
				Enter: () => this.zoom(this.focused), " ": () => this.zoom(this.focused),
				Backspace: () => this.zoom(this.parent_of(this.zoomed)),
				Escape: () => reset(),
			};
		}
	}

	/* ---- the bar ---- */

	const bar = element("div", { id: "bar", role: "toolbar", "aria-label": "Search and looks" }, main);
	const field = element("input", { id: "search", type: "search", placeholder: "Search functions  /",
		title: "A part of names, as text or as regular expression. Key: / or Ctrl-F", "aria-label": "Search functions" }, bar);
	const found = element("output", { id: "found", "aria-live": "polite" }, bar);
	element("span", { className: "gap" }, bar);
	const colours = element("select", { id: "colours", title: "What colours mean. Key: c", "aria-label": "Colours" }, bar);
	for (const [value, text] of [["mode", "by mode"], ["object", "by module"], ["change", "by change"]])
		if (value !== "change" || data.before)
			element("option", { value: value, textContent: text }, colours);
	colours.value = state.scheme;

	const buttons = {};
	function button(name, text, title, action) {
		buttons[name] = element("button", { id: name, type: "button", textContent: text, title: title }, bar);
		buttons[name].addEventListener("click", action);
	}

	function is_dark() {
		return root.classList.contains("dark") || (!root.classList.contains("light") &&
			matchMedia("(prefers-color-scheme: dark)").matches);
	}

	function colour(scheme) {
		state.scheme = colours.value = scheme;
		draw();
	}

	const actions = {
		idle() {
			state.idle = !state.idle;
			buttons.idle.setAttribute("aria-pressed", String(!state.idle));
			update();
		},
		flip() {
			state.flame = !state.flame;
			draw();
		},
		dark() {
			const dark = is_dark();

			root.classList.toggle("dark", !dark);
			root.classList.toggle("light", dark);
			draw();
		},
	};
	if (used_tones[IDLE])
		button("idle", "No idle", "Show idle CPUs or leave them out. Key: i", actions.idle);
	button("flip", "Flip", "Turn the flame graph upside down. Key: u", actions.flip);
	button("dark", "Dark", "Dark or light. Key: d", actions.dark);
	button("reset", "Reset", "The whole range, no zoom, no search. Key: Esc", reset);

	/* ---- the time line ---- */

	const time = section("time", "CPU time");
	time.element.hidden = Boolean(data.before) && !bins;	/* a comparison has no times */
	const line = bins ? element("canvas", { tabIndex: 0, role: "slider", "aria-label": "Range of time: drag, or arrows; " +
		"Shift and arrows move its end; Escape: all", "aria-valuemin": 0, "aria-valuemax": bins }, time.element) : null;
	const PLOT = 90;		/* its height in pixels */

	/* The weight of each mode in each bin. It does not depend on the range. */
	const columns = bins ? data.bins.lists.map((list) => {
		const column = new Float64Array(MODE_TONES.length);

		for (let i = 0; i < list.length; i += 3)
			column[data.part_mode[list[i]]] += list[i + 1];
		return column;
	}) : [];
	const highest = columns.reduce((most, column) => Math.max(most, sum(Array.from(column))), 1);

	/* A range is told by the guest's clock, as `ktop report --from` takes it. */
	function time_note() {
		if (!bins)
			return "the times of samples were not kept: there is no range to choose";
		const digits = Math.min(Math.max(Math.ceil(9 - Math.log10(data.bins.width)), 1), 9);
		const seconds = (ns) => (ns / 1e9).toFixed(digits) + " s";
		const time = (bin) => seconds(data.bins.from + bin * data.bins.width);
		const whole = state.first === 0 && state.last === bins;

		return (whole ? "all " + seconds(bins * data.bins.width) : time(state.first) + " to " + time(state.last) +
			" of the guest's clock") + ", grain " + time_text(data.bins.width) + (whole ? "; drag to choose a range" : "");
	}

	function draw_time() {
		time.note.textContent = time_note();
		if (!line)
			return;
		const pen = prepare(line, PLOT), wide = line.clientWidth / bins;
		const order = MODE_TONES.map((tone, mode) => mode).sort((a, b) => (MODE_TONES[a] === IDLE) - (MODE_TONES[b] === IDLE));

		pen.globalAlpha = Number(style("--tone"));
		columns.forEach((column, bin) => {
			let y = PLOT;

			for (const mode of order) {
				const height = (PLOT - 8) * column[mode] / highest;

				if (!height || (!state.idle && MODE_TONES[mode] === IDLE))
					continue;
				pen.fillStyle = data.tones[MODE_TONES[mode] * SHADES];
				pen.fillRect(bin * wide, y - height, wide > 3 ? wide - 0.6 : wide + 0.2, height);
				y -= height;
			}
		});
		pen.globalAlpha = 1;
		if (state.first > 0 || state.last < bins) {
			pen.fillStyle = style("--paper");
			pen.globalAlpha = 0.65;
			pen.fillRect(0, 0, state.first * wide, PLOT);
			pen.fillRect(state.last * wide, 0, line.clientWidth, PLOT);
			pen.globalAlpha = 1;
			pen.strokeStyle = style("--range");
			pen.lineWidth = 2;
			pen.strokeRect(state.first * wide + 1, 1, Math.max((state.last - state.first) * wide - 2, 1), PLOT - 2);
		}
		line.setAttribute("aria-valuenow", state.first);
		line.setAttribute("aria-valuetext", time_note());
	}

	function range(first, last) {
		const low = Math.max(0, Math.min(first, last)), high = Math.min(bins, Math.max(first, last));

		if (high <= low)
			return;
		state.first = low;
		state.last = high;
		update();
	}

	if (line) {
		let from = -1;
		const bin_at = (event) => {
			const at = line.getBoundingClientRect();

			return Math.max(0, Math.min(bins - 1, Math.floor((event.clientX - at.left) / at.width * bins)));
		};

		line.addEventListener("pointerdown", (event) => {
			from = bin_at(event);
			line.setPointerCapture(event.pointerId);
		});
		line.addEventListener("pointermove", (event) => {
			if (from >= 0) {
				state.first = Math.min(from, bin_at(event));
				state.last = Math.max(from, bin_at(event)) + 1;
				draw_time();
			}
		});
		line.addEventListener("pointerup", (event) => {
			const to = bin_at(event);

			if (from === to)
				range(0, bins);	/* a click: all again */
			else if (from >= 0)
				range(Math.min(from, to), Math.max(from, to) + 1);
			from = -1;
		});
		line.addEventListener("keydown", (event) => {
			const step = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
			const whole = state.first === 0 && state.last === bins, size = state.last - state.first;

			if (!step)
				return;
			if (whole)
				range(step > 0 ? 0 : bins - Math.ceil(bins / 10), step > 0 ? Math.ceil(bins / 10) : bins);
			else if (event.shiftKey)
				range(state.first, Math.max(state.first + 1, state.last + step));
			else if (state.first + step >= 0 && state.last + step <= bins)
				range(state.first + step, state.first + step + size);
			event.preventDefault();
		});
	}

	/* ---- flame, callers ---- */

	/* What has gone as a whole is counted where it begins. */
	function gone_text() {
		let weight = 0, frames = 0;

		for (let i = 1; i < count; i++)
			if (is_gone(i)) {
				weight += before_total[i];
				frames += ends[i] - i;
				i = ends[i] - 1;
			}
		return frames ? count_text(frames) + (frames === 1 ? " frame is" : " frames are") + " gone, with " +
			share_text(weight, before_total[0]) + " of what was before: all is as wide as " + (total[0] ? "100% and these " :
			"these ") + share_text(weight, before_total[0]) : "";
	}

	const tree = { level: level, function: function_of, total: total, widths: widths, ends: ends,
		change: data.before ? change_of_cell : null, is_gone: data.before ? is_gone : null,
		gone: data.before ? gone_text : null };
	const flame_part = section("flame", "Flame graph");
	const legend = element("span", { className: "legend" }, flame_part.head);
	const flame = new Flame(flame_part, () => tree, (i) => state.scheme === "mode" ? data.tones[colour_of[i]] :
		state.scheme === "object" ? data.object_colours[data.object_colour[function_of[i]]] :
			change_colour(change_of_cell(i)), () => state.flame);

	let callers_now = { level: [0], function: [-1], total: [0], widths: [0], ends: [1] };
	const callers = new Flame(section("callers", "Callers, from where time is spent"), () => callers_now,
		(i) => function_tint(callers_now.function[i]), () => false);

	function draw_legend() {
		const entries = [];

		legend.textContent = "";
		if (state.scheme === "mode")
			data.tone_names.forEach((name, tone) => {
				if (used_tones[tone])
					entries.push([tone, data.tones[tone * SHADES], name]);
			});
		else if (state.scheme === "object") {
			const weights_of = new Map();

			function_self.forEach((weight, what) => {
				const object = data.object[what];

				weights_of.set(object, (weights_of.get(object) || 0) + weight);
			});
			Array.from(weights_of).filter(([object]) => data.objects[object]).sort((a, b) => b[1] - a[1]).slice(0, 8).forEach(([object], i) =>
				entries.push([i, data.object_colours[data.object_colour[data.object.indexOf(object)]], data.objects[object]]));
		} else
			[[0, "much less"], [2, "less"], [4, "the same, or few samples"], [6, "more"], [8, "much more than before"]].forEach(([i, text]) =>
				entries.push([i, data.change_colours[i], text]));
		if (tree.gone && tree.gone())
			entries.push([9, "", "gone: as wide as before"]);
		entries.sort((a, b) => a[0] - b[0]).forEach(([, tint, text]) => {
			const entry = element("span", {}, legend);

			if (tint)
				element("i", {}, entry).style.background = tint;
			else
				element("i", { className: "gone" }, entry);
			entry.append(cut(text, 26));
		});
	}

	/* ---- the table ---- */

	const table_part = section("functions", "Functions");
	const box = element("div", { className: "box" }, table_part.element);
	const table = element("table", {}, box);
	const head_row = element("tr", {}, element("thead", {}, table)), body = element("tbody", {}, table);
	const more = element("button", { id: "more", type: "button" }, table_part.element);
	const table_columns = [
		{ id: "name", text: "Function", value: (what) => data.names[what] },
		{ id: "self", text: "Self", number: true, value: (what) => function_self[what] },
		{ id: "self_time", text: whole_ns ? "Self time" : "Self " + (data.unit || "samples"), number: true,
			value: (what) => function_self[what] },
		{ id: "samples", text: "Samples", number: true, never: "before",
			value: (what) => function_samples_self[what] },
		{ id: "total", text: "Total", number: true, value: (what) => function_total[what] },
		{ id: "total_time", text: whole_ns ? "Total time" : "Total " + (data.unit || "samples"), number: true,
			value: (what) => function_total[what] },
		{ id: "before", text: "Before", number: true, only: "before", value: (what) => function_before[what] },
		{ id: "change", text: "Change", number: true, only: "before", value: (what) => change_of_function(what).share },
		{ id: "object", text: "Module", value: (what) => data.objects[data.object[what]] },
		{ id: "source", text: "Source", value: (what) => data.files[data.file[what]] },
	].filter((column) => (!column.only || data[column.only]) && (!column.never || !data[column.never]));

	function put_cell(row, column, what) {
		const cell = element("td", { className: column.id + (column.number ? " number" : "") }, row);

		if (column.id === "name") {
			element("i", {}, cell).style.background = function_tint(what);
			cell.append(data.names[what]);
			cell.title = data.names[what];
		} else if (column.id === "self" || column.id === "total") {
			const share = total[0] ? column.value(what) / total[0] : 0, strip = element("span", {}, cell);

			cell.classList.add("share");
			strip.style.width = Math.min(134, 134 * share) + "px";
			strip.style.background = data.tones[function_colour[what]];
			element("b", { textContent: share_text(column.value(what), total[0]) }, cell);
		} else if (column.id === "before")
			cell.textContent = share_text(function_before[what], before_total[0]);
		else if (column.id === "samples")
			cell.textContent = count_text(column.value(what));
		else if (column.id === "change") {
			const change = change_of_function(what);

			cell.textContent = change_text(change);
			cell.classList.toggle("more", change.share > 0 && !change.chance);
			cell.classList.toggle("less", change.share < 0 && !change.chance);
		} else if (column.id === "source")
			cell.textContent = column.value(what) + (column.value(what) && data.line[what] ? ":" + data.line[what] : "");
		else
			cell.textContent = column.number ? amount_text(column.value(what)) : column.value(what);
		if (column.id === "self_time" || column.id === "total_time" || column.id === "samples")
			cell.dataset.weight = column.value(what);
	}

	function draw_table() {
		const column = table_columns.find((one) => one.id === state.sort), way = state.down ? -1 : 1;
		const list = [];

		for (let what = 0; what < data.names.length; what++)
			if ((function_total[what] > 0 || (data.before && function_before[what] > 0)) &&
					(state.pattern === null || match(what)))
				list.push(what);
		list.sort((a, b) => {
			const one = column.value(a), other = column.value(b);

			return (one < other ? -way : one > other ? way : 0) || function_self[b] - function_self[a] || a - b;
		});
		body.textContent = "";
		list.slice(0, state.rows).forEach((what) => {
			const row = element("tr", { tabIndex: -1 }, body);

			row.dataset.what = what;
			row.setAttribute("aria-selected", String(what === state.selected));
			table_columns.forEach((one) => put_cell(row, one, what));
		});
		if (body.firstChild)
			body.firstChild.tabIndex = 0;
		Array.from(head_row.children).forEach((cell, i) => {
			if (table_columns[i].id === state.sort)
				cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
			else
				cell.removeAttribute("aria-sort");
		});
		table_part.note.textContent = count_text(list.length) + (list.length === 1 ? " function" : " functions");
		more.hidden = list.length <= state.rows;
		more.textContent = "Show " + count_text(Math.min(10 * ROWS, list.length - state.rows)) + " more";
	}

	table_columns.forEach((column) => {
		const cell = element("th", { scope: "col", className: column.number ? "number" : "" }, head_row);

		element("button", { type: "button", textContent: column.text, title: "Sort by it" }, cell).addEventListener("click", () => {
			state.down = state.sort === column.id ? !state.down : Boolean(column.number);
			state.sort = column.id;
			draw_table();
		});
	});
	more.addEventListener("click", () => {
		state.rows += 10 * ROWS;
		draw_table();
	});

	/* A row chosen marks its function in both flames, and zooms the callers to it. */
	function choose(what) {
		state.selected = state.selected === what ? -1 : what;
		const at = state.selected < 0 ? 0 : callers_now.function.findIndex((one, i) => one === what && callers_now.level[i] === 1);

		callers.zoomed = callers.focused = Math.max(at, 0);
		flame.draw();
		callers.draw();
		Array.from(body.children).forEach((row) =>
			row.setAttribute("aria-selected", String(Number(row.dataset.what) === state.selected)));
	}
	body.addEventListener("click", (event) => {
		const row = event.target.closest("tr");

		if (row && String(getSelection()) === "")
			choose(Number(row.dataset.what));
	});
	body.addEventListener("keydown", (event) => {
		const row = event.target.closest("tr"), next = event.key === "ArrowDown" ? row.nextSibling :
			event.key === "ArrowUp" ? row.previousSibling : null;

		if (event.key === "Enter" || event.key === " ")
			choose(Number(row.dataset.what));
		else if (next) {
			row.tabIndex = -1;
			next.tabIndex = 0;
			next.focus();
		} else
			return;
		event.preventDefault();
	});

	/* ---- all together ---- */

	function search() {
		let weight = 0, functions = 0;

		/* The outermost matching cells have all that matches, once. */
		for (let i = 1; i < count; i++)
			if (match(function_of[i])) {
				weight += total[i];
				i = ends[i] - 1;
			}
		for (let what = 0; state.pattern && what < data.names.length; what++)
			functions += function_total[what] > 0 && match(what);
		found.textContent = state.pattern === null ? "" : functions + (functions === 1 ? " match, " : " matches, ") +
			share_text(weight, total[0]);
		found.dataset.weight = weight;
	}

	function draw() {
		draw_time();
		draw_legend();
		flame.draw();
		callers.draw();
		draw_table();
	}

	let due = 0;
	function update() {
		compute();
		colour_functions();
		search();
		draw_time();
		draw_legend();
		flame.draw();
		draw_table();
		root.dataset.weight = total[0];	/* what is shown */
		cancelAnimationFrame(due);
		due = requestAnimationFrame(() => setTimeout(() => {
			callers_now = callers_tree();
			callers.reset();
			root.dataset.ready = state.first + "-" + state.last;
		}));
		delete root.dataset.ready;
	}

	function reset() {
		field.value = "";
		state.pattern = null;
		state.selected = -1;
		state.first = 0;
		state.last = bins;
		flame.zoomed = flame.focused = 0;
		update();
	}

	function compile(text, plain) {
		try {
			return text ? new RegExp(plain ? text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&") : text, "i") : null;
		} catch (error) {
			return compile(text, true);	/* no expression yet: as text */
		}
	}

	field.addEventListener("input", () => {
		state.pattern = compile(field.value, false);
		search();
		flame.draw();
		callers.draw();
		draw_table();
	});
	colours.addEventListener("change", () => colour(colours.value));
	document.addEventListener("keydown", (event) => {
		const keys = {
			"/": () => field.focus(), Escape: reset, u: actions.flip, d: actions.dark, i: buttons.idle ? actions.idle : () => {},
			c: () => colour(colours.options[(colours.selectedIndex + 1) % colours.options.length].value),
		};

		if ((event.ctrlKey || event.metaKey) && event.key === "f" && document.activeElement !== field) {
			field.focus();
			event.preventDefault();
		} else if (!event.ctrlKey && !event.metaKey && !event.altKey && keys[event.key] &&
			(event.target !== field || event.key === "Escape")) {
			keys[event.key]();
			event.preventDefault();
		}
	});
	addEventListener("resize", draw);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
	update();
})();
