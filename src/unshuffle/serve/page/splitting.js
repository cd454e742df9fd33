// A text field that says how its text is split into sentences, and lets the reader change that.
import { latest, post } from "./api.js";
import { element } from "./element.js";
import { count } from "./words.js";

const STOP = /[.!?…。！？؟۔]+["”’»)\]]*(?:\s|$)/gu;
const ENDED = /[.!?…。！？؟۔:;]["”’»)\]]*$/u;
const WRAPPED = 50; // letters; shorter lines are not the result of wrapping
const WAIT = 300;

/** Where a text is best split: at "lines" if each holds about one sentence, else at "sentences". */
export function guessSplit(text) {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (lines.length < 2) return "sentences";
  const stops = lines.reduce((sum, line) => sum + Math.max(1, (line.match(STOP) ?? []).length), 0);
  if (stops > 1.5 * lines.length) return "sentences"; // paragraphs
  const ended = lines.filter((line) => ENDED.test(line)).length;
  const length = lines.reduce((sum, line) => sum + line.length, 0) / lines.length;
  return ended < lines.length / 2 && length > WRAPPED ? "sentences" : "lines";
}

/** A <textarea>, a <select> of where to split it, and a <details> that shows the outcome. */
export class SplitField {
  constructor({ text, choice, outcome }, changed) {
    Object.assign(this, { text, choice, outcome, changed });
    text.addEventListener("paste", () => this.forget());
    text.addEventListener("input", () => {
      if (!text.value.trim()) this.forget();
      this.refresh();
    });
    choice.addEventListener("change", () => this.refresh());
    this.ask = latest(async (signal, asked) => {
      await new Promise((resolve) => setTimeout(resolve, WAIT));
      return signal.aborted ? undefined : post("split", asked, signal);
    });
  }

  /** What to send: the text and where to split it. */
  get asked() {
    return { text: this.text.value, split: this.choice.value === "auto" ? guessSplit(this.text.value) : this.choice.value };
  }

  /** Put a text in; nothing chosen for an earlier one sticks to it. */
  fill(text, wanted = "auto") {
    this.text.value = text;
    this.choice.value = wanted === guessSplit(text) ? "auto" : wanted;
    this.refresh();
  }

  forget() {
    this.choice.value = "auto";
  }

  async refresh() {
    this.changed?.();
    const { asked } = this;
    if (!asked.text.trim()) return this.show();
    try {
      const answer = await this.ask(asked);
      if (answer) this.show(answer.sentences, asked.split);
    } catch {
      this.show(); // the reason is told when the reader asks for the order
    }
  }

  show(sentences = [], split = "sentences") {
    this.outcome.hidden = !sentences.length;
    const where = `${count(sentences.length, "sentence")}, split at ${split === "lines" ? "line ends" : "full stops"}`;
    this.outcome.querySelector("summary").textContent = this.choice.value === "auto" ? `${where} (chosen automatically)` : where;
    this.outcome.querySelector("ol").replaceChildren(...sentences.map((one) => element("li", { dir: "auto" }, one)));
  }
}
