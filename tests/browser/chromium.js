// SPDX-License-Identifier: MIT
/*
 * Chromium without a window, driven through a pipe by its own protocol (DevTools). It has no network: each name resolves
 * to nothing, and what a page asked for is kept, so that a test can look.
 */
"use strict";
const { spawn } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

const names = ["chromium", "chromium-browser", "google-chrome"];
const keys = { Enter: 13, Escape: 27, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Home: 36, End: 35, Tab: 9 };

/* The first of them that is in PATH; undefined: none is. */
function find() {
	return process.env.PATH.split(":").flatMap((folder) => names.map((name) => path.join(folder, name)))
		.find((file) => fs.existsSync(file));
}

class Chromium {
	constructor() {
		this.folder = fs.mkdtempSync(path.join(os.tmpdir(), "ktop-browser-"));
		this.asked = [];	/* addresses that pages asked for */
		this.errors = [];	/* what went wrong in scripts, and what a policy forbade */
		this.waiting = new Map();
		this.number = 0;
		this.child = spawn(find(), ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
			"--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking", "--no-first-run",
			"--disable-dev-shm-usage", "--force-color-profile=srgb", "--user-data-dir=" + this.folder, "about:blank"],
			{ stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
		let kept = "";

		this.child.stdio[4].setEncoding("utf8");
		this.child.stdio[4].on("data", (text) => {
			const lines = (kept + text).split("\0");

			kept = lines.pop();
			lines.forEach((line) => this.take(JSON.parse(line)));
		});
		this.child.on("exit", () => this.waiting.forEach((call) => call.reject(new Error("chromium has ended"))));
	}

	take(message) {
		const call = this.waiting.get(message.id);

		if (call) {
			this.waiting.delete(message.id);
			if (message.error)
				call.reject(new Error(message.error.message));
			else
				call.resolve(message.result);
		} else if (message.method === "Network.requestWillBeSent")
			this.asked.push(message.params.request.url);
		else if (message.method === "Runtime.exceptionThrown")
			this.errors.push(JSON.stringify(message.params.exceptionDetails.exception || message.params.exceptionDetails));
		else if (message.method === "Log.entryAdded" && message.params.entry.level === "error")
			this.errors.push(message.params.entry.text);
		else if (message.method === "Page.loadEventFired" && this.loaded)
			this.loaded();
	}

	call(method, params = {}) {
		const id = ++this.number;
		const message = { id: id, method: method, params: params };

		if (this.session)
			message.sessionId = this.session;
		return new Promise((resolve, reject) => {
			this.waiting.set(id, { resolve, reject });
			this.child.stdio[3].write(JSON.stringify(message) + "\0");
		});
	}

	async start() {
		const { targetInfos } = await this.call("Target.getTargets");
		const page = targetInfos.find((info) => info.type === "page");

		this.session = (await this.call("Target.attachToTarget", { targetId: page.targetId, flatten: true })).sessionId;
		for (const domain of ["Page", "Runtime", "Network", "Log"])
			await this.call(domain + ".enable");
		await this.call("Network.emulateNetworkConditions",
			{ offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 });
		await this.size(1280, 800);
	}

	/* From now on the processor time of each page's thread is kept. */
	measure() {
		return this.call("Performance.enable", { timeDomain: "threadTicks" });
	}

	/* What the page has spent since it was opened, in seconds of processor time. */
	async spent() {
		const { metrics } = await this.call("Performance.getMetrics");
		const value = (name) => metrics.find((metric) => metric.name === name).value;

		return { all: value("TaskDuration"), scripts: value("ScriptDuration"), layout: value("LayoutDuration") };
	}

	size(width, height, mobile = false) {
		return this.call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile });
	}

	/* What the viewer has set: "dark" or "light". */
	prefer(scheme) {
		return this.call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
	}

	scripts(on) {
		return this.call("Emulation.setScriptExecutionDisabled", { value: !on });
	}

	async open(file) {
		const loaded = new Promise((resolve) => { this.loaded = resolve; });

		await this.call("Page.navigate", { url: "file://" + path.resolve(file) });
		await loaded;
	}

	/* The value of an expression in the page; promises are awaited. */
	async value(expression) {
		const answer = await this.call("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });

		if (answer.exceptionDetails)
			throw new Error(expression + ": " + JSON.stringify(answer.exceptionDetails.exception.description));
		return answer.result.value;
	}

	async press(key, modifiers = 0) {
		const printed = key.length === 1 && !modifiers;
		const event = { key, modifiers, windowsVirtualKeyCode: keys[key] || key.toUpperCase().charCodeAt(0) };

		await this.call("Input.dispatchKeyEvent", Object.assign({ type: printed ? "keyDown" : "rawKeyDown" }, event,
			printed || key === "Enter" ? { text: key === "Enter" ? "\r" : key } : {}));
		await this.call("Input.dispatchKeyEvent", Object.assign({ type: "keyUp" }, event));
	}

	async type(text) {
		for (const letter of text)
			await this.press(letter);
	}

	async mouse(type, x, y, buttons = 0) {
		await this.call("Input.dispatchMouseEvent",
			{ type, x, y, button: type === "mouseMoved" && !buttons ? "none" : "left", buttons, clickCount: 1 });
	}

	async click(x, y) {
		await this.mouse("mouseMoved", x, y);
		await this.mouse("mousePressed", x, y, 1);
		await this.mouse("mouseReleased", x, y);
	}

	async drag(from, to, y) {
		await this.mouse("mouseMoved", from, y);
		await this.mouse("mousePressed", from, y, 1);
		for (let i = 1; i <= 5; i++)
			await this.mouse("mouseMoved", from + (to - from) * i / 5, y, 1);
		await this.mouse("mouseReleased", to, y);
	}

	async shoot(file) {
		const { data } = await this.call("Page.captureScreenshot", { format: "png" });

		fs.writeFileSync(file, Buffer.from(data, "base64"));
	}

	async stop() {
		const ended = new Promise((resolve) => this.child.once("exit", resolve));

		this.session = undefined;
		await this.call("Browser.close").catch(() => {});
		await ended;
		fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
	}
}

module.exports = { Chromium, find };
