// The ordered sentences as a list that can be rearranged by pointer, buttons or arrow keys.
import { marked, tie } from "./cues.js";
import { element, speak } from "./element.js";
import { percent } from "./words.js";

/** A list in a given <ol>; calls `changed(order)` after every move. */
export class SentenceList {
  constructor(list, changed) {
    this.list = list;
    this.changed = changed;
    this.order = [];
  }

  /** Show sentences in an order of their indices; `labels` are the numbers by which the page calls them. */
  load(sentences, order, labels) {
    this.sentences = sentences;
    this.labels = labels;
    this.order = [...order];
    this.list.replaceChildren(...this.order.map((sentence) => this.item(sentence)));
    this.number();
  }

  item(sentence) {
    const grip = element("button", {
      class: "grip", type: "button", title: `Sentence ${sentence + 1} as you gave them. Drag it to another position.`,
      onkeydown: (event) => this.key(event, sentence),
      onpointerdown: (event) => this.drag(event, sentence),
    }, String(this.labels[sentence]));
    const button = (step, sign) => element("button", {
      class: "quiet", type: "button", "data-step": step, onclick: () => this.moveBy(sentence, step),
    }, sign);
    return element("li", { "data-sentence": sentence },
      element("div", { class: "join" }, grip, element("span", { class: "tie" }),
        element("span", { class: "nudge" }, button(-1, "↑"), button(1, "↓"))),
      element("p", { class: "sentence", dir: "auto" }, this.sentences[sentence]));
  }

  number() {
    [...this.list.children].forEach((item, position) => {
      const label = this.labels[item.dataset.sentence];
      item.querySelector(".grip").setAttribute(
        "aria-label", `Sentence ${label}, position ${position + 1} of ${this.order.length}. Arrow keys move it.`);
      for (const [step, name, end] of [[-1, "up", 0], [1, "down", this.order.length - 1]]) {
        const button = item.querySelector(`[data-step="${step}"]`);
        button.setAttribute("aria-label", `Move sentence ${label} ${name}`);
        button.disabled = position === end;
      }
    });
  }

  key(event, sentence) {
    const end = this.order.length;
    const step = { ArrowUp: -1, ArrowDown: 1, Home: -end, End: end }[event.key];
    if (!step) return;
    event.preventDefault();
    this.moveBy(sentence, step);
    this.itemOf(sentence).querySelector(".grip").focus();
  }

  moveBy(sentence, step) {
    this.moveTo(sentence, Math.min(Math.max(this.order.indexOf(sentence) + step, 0), this.order.length - 1));
  }

  moveTo(sentence, position) {
    if (this.order.indexOf(sentence) === position) return;
    const item = this.itemOf(sentence);
    this.order = this.order.filter((other) => other !== sentence);
    this.order.splice(position, 0, sentence);
    item.remove();
    this.list.insertBefore(item, this.list.children[position] ?? null);
    this.number();
    speak(`Sentence ${this.labels[sentence]} moved to position ${position + 1} of ${this.order.length}.`);
    this.changed(this.order);
  }

  itemOf(sentence) {
    return this.list.querySelector(`[data-sentence="${sentence}"]`);
  }

  drag(event, sentence) {
    if (event.button) return;
    event.preventDefault();
    const item = this.itemOf(sentence);
    const grip = event.currentTarget;
    grip.focus();
    grip.setPointerCapture(event.pointerId);
    item.classList.add("dragged");
    const start = event.clientY;
    let position = this.order.indexOf(sentence);
    const others = [...this.list.children].filter((other) => other !== item);
    const middles = others.map((other) => {
      const box = other.getBoundingClientRect();
      return box.top + box.height / 2 + scrollY;
    });
    const move = (moved) => {
      item.style.translate = `0 ${moved.clientY - start}px`;
      position = middles.filter((middle) => middle < moved.clientY + scrollY).length;
      others.forEach((other, number) => {
        other.classList.toggle("drop-before", number === position);
        other.classList.toggle("drop-after", position === others.length && number === position - 1);
      });
    };
    const end = (last) => {
      grip.removeEventListener("pointermove", move);
      grip.removeEventListener("pointerup", end);
      grip.removeEventListener("pointercancel", end);
      item.classList.remove("dragged");
      item.style.translate = "";
      others.forEach((other) => other.classList.remove("drop-before", "drop-after"));
      if (last.type === "pointerup") this.moveTo(sentence, position);
      grip.focus();
    };
    grip.addEventListener("pointermove", move);
    grip.addEventListener("pointerup", end);
    grip.addEventListener("pointercancel", end);
  }

  /** Say what ties each sentence to the one before it, mark the clues, and flag the steps the model doubts. */
  showSteps(cues, chance, { headline, ties }) {
    const equal = (one, other) => ties.some((tie) => tie.includes(one) && tie.includes(other));
    [...this.list.children].forEach((item, position) => {
      const sentence = this.order[position];
      const earlier = this.order.slice(0, position).reverse().map((other) => ({ label: this.labels[other], cues: cues[other] }));
      item.querySelector("p").replaceChildren(...marked(this.sentences[sentence], cues[sentence]));
      const place = position ? `Between ${this.labels[this.order[position - 1]]} and ${this.labels[sentence]}` : "";
      const sure = position ? chance(this.order[position - 1], sentence) : 1;
      const words = position ? tie(cues[sentence], earlier) || "no obvious clue" : "opens the text";
      const doubtful = position > 0 && sure < headline.doubt_below && !equal(this.order[position - 1], sentence);
      item.classList.toggle("doubtful", doubtful);
      item.querySelector(".tie").replaceChildren(
        ...(doubtful ? [element("b", { class: "flag" }, `${place}: ${doubt(sure)}`)] : []),
        element("span", { class: "clues", title: place && `${place}: right way round with ${percent(sure)}` }, words));
    });
  }
}

const doubt = (sure) => (sure < 0.5 ? "the model has it the other way round" : "check");
