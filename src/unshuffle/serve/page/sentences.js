// The ordered sentences as a list that can be rearranged by pointer, buttons or arrow keys.
import { element, percent, speak } from "./element.js";

/** A list in a given <ol>; calls `changed(order)` after every move. */
export class SentenceList {
  constructor(list, changed) {
    this.list = list;
    this.changed = changed;
    this.order = [];
  }

  /** Show sentences in an order of their indices. */
  load(sentences, order) {
    this.sentences = sentences;
    this.order = [...order];
    this.list.replaceChildren(...this.order.map((sentence) => this.item(sentence)));
    this.number();
  }

  item(sentence) {
    const grip = element("button", {
      class: "grip", type: "button",
      onkeydown: (event) => this.key(event, sentence),
      onpointerdown: (event) => this.drag(event, sentence),
    }, String(sentence + 1));
    const button = (step, name, sign) => element("button", {
      class: "quiet", type: "button", "aria-label": name, "data-step": step, onclick: () => this.moveBy(sentence, step),
    }, sign);
    return element("li", { "data-sentence": sentence },
      element("div", { class: "step", "aria-hidden": "true" }),
      element("div", { class: "line" }, grip, element("p", {}, this.sentences[sentence]),
        element("span", { class: "nudge" }, button(-1, "Move up", "↑"), button(1, "Move down", "↓"))));
  }

  number() {
    [...this.list.children].forEach((item, place) => {
      const sentence = Number(item.dataset.sentence);
      item.querySelector(".grip").setAttribute(
        "aria-label", `Sentence ${sentence + 1}, place ${place + 1} of ${this.order.length}. Arrow keys move it.`);
      item.querySelector('[data-step="-1"]').disabled = place === 0;
      item.querySelector('[data-step="1"]').disabled = place === this.order.length - 1;
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

  moveTo(sentence, place) {
    if (this.order.indexOf(sentence) === place) return;
    const item = this.itemOf(sentence);
    this.order = this.order.filter((other) => other !== sentence);
    this.order.splice(place, 0, sentence);
    item.remove();
    this.list.insertBefore(item, this.list.children[place] ?? null);
    this.number();
    speak(`Sentence ${sentence + 1} moved to place ${place + 1} of ${this.order.length}.`);
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
    let place = this.order.indexOf(sentence);
    const others = [...this.list.children].filter((other) => other !== item);
    const middles = others.map((other) => {
      const box = other.getBoundingClientRect();
      return box.top + box.height / 2 + scrollY;
    });
    const move = (moved) => {
      item.style.translate = `0 ${moved.clientY - start}px`;
      place = middles.filter((middle) => middle < moved.clientY + scrollY).length;
      others.forEach((other, number) => {
        other.classList.toggle("drop-before", number === place);
        other.classList.toggle("drop-after", place === others.length && number === place - 1);
      });
    };
    const end = (last) => {
      grip.removeEventListener("pointermove", move);
      grip.removeEventListener("pointerup", end);
      grip.removeEventListener("pointercancel", end);
      item.classList.remove("dragged");
      item.style.translate = "";
      others.forEach((other) => other.classList.remove("drop-before", "drop-after"));
      if (last.type === "pointerup") this.moveTo(sentence, place);
      grip.focus();
    };
    grip.addEventListener("pointermove", move);
    grip.addEventListener("pointerup", end);
    grip.addEventListener("pointercancel", end);
  }

  /** Show how well each sentence follows the one before it; the weakest step is named. */
  showSteps(transitions) {
    const worst = transitions.reduce((least, one) => (one.score < (least?.score ?? Infinity) ? one : least), null);
    const score = Object.fromEntries(transitions.map((one) => [one.second, one.score]));
    [...this.list.children].forEach((item, place) => {
      const step = item.querySelector(".step");
      const isWorst = transitions.length > 1 && worst?.second === place;
      step.classList.toggle("named", isWorst);
      step.classList.toggle("worst", isWorst && worst.score < 0.5);
      step.replaceChildren();
      step.style.setProperty("--strength", `${Math.round(100 * (score[place] ?? 0))}%`);
      step.title = place in score ? `follows with ${percent(score[place])}` : "";
      if (isWorst) step.append(element("span", {}, `weakest step, ${percent(score[place])}`));
    });
  }
}
