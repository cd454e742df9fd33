// A draft as running text: sentences with advice are underlined and open a note when pointed at or focused.
import { element } from "./element.js";

const LINGER = 250; // milliseconds in which the pointer may travel from a sentence to its note

/** Fill a container; `move(from, to)` is called when a note's button is pressed; `focused` is a position to go to. */
export function showPassage(container, paragraphs, advice, move, focused) {
  let number = -1;
  const notes = new Notes(container, move);
  container.replaceChildren(...paragraphs.map((paragraph) => element("p", { dir: "auto" }, ...paragraph.flatMap((sentence) => {
    number += 1;
    return [sentenceIn(sentence, number, advice.get(number), notes), " "];
  }))));
  const moved = focused === undefined ? null : container.querySelector(`[data-position="${focused}"]`);
  if (!moved) return;
  moved.classList.add("moved");
  if (!moved.hasAttribute("tabindex")) moved.tabIndex = -1;
  moved.dataset.quiet = "yes"; // its note, if it has one, would hide what was just moved
  moved.focus();
  delete moved.dataset.quiet;
}

function sentenceIn(sentence, number, advice, notes) {
  if (!advice) return element("span", { "data-position": number }, sentence);
  const span = element("span", {
    class: `advised${advice.to === undefined ? "" : " movable"}`, "data-position": number, tabindex: 0, role: "button", "aria-expanded": "false",
    onmouseenter: () => notes.open(span, number, advice),
    onmouseleave: () => notes.closeSoon(),
    onfocus: () => span.dataset.quiet || notes.open(span, number, advice),
    onclick: () => notes.open(span, number, advice),
    onkeydown: (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      notes.open(span, number, advice);
      notes.note.querySelector("button")?.focus();
    },
  }, sentence);
  return span;
}

/** The one note that is open. */
class Notes {
  constructor(container, move) {
    Object.assign(this, { container, move, timer: 0 });
    // Assigned, not added: a passage that is shown again has notes of its own.
    container.onkeyup = (event) => event.key === "Escape" && this.close(true);
    container.onfocusout = (event) => container.contains(event.relatedTarget) || this.closeSoon();
  }

  open(span, number, advice) {
    clearTimeout(this.timer);
    if (this.span === span) return;
    this.close();
    this.span = span;
    const button = advice.to === undefined ? null
      : element("button", { type: "button", onclick: () => this.move(number, advice.to) }, "Move it");
    this.note = element("span", {
      class: "tip", role: "note", onmouseenter: () => clearTimeout(this.timer), onmouseleave: () => this.closeSoon(),
    }, element("span", {}, advice.words), button);
    span.after(this.note);
    span.setAttribute("aria-expanded", "true");
    const last = [...span.getClientRects()].at(-1);
    this.note.style.top = `${last.bottom - this.container.getBoundingClientRect().top + 4}px`;
  }

  closeSoon() {
    clearTimeout(this.timer);
    const held = () => [this.span, this.note].some((part) => part?.contains(document.activeElement));
    this.timer = setTimeout(() => held() || this.close(), LINGER);
  }

  close(back = false) {
    clearTimeout(this.timer);
    if (!this.span) return;
    const { span } = this;
    this.span = undefined;
    const held = this.note.contains(document.activeElement);
    this.note.remove();
    span.setAttribute("aria-expanded", "false");
    if (!back || !held) return;
    span.dataset.quiet = "yes";
    span.focus();
    delete span.dataset.quiet;
  }
}
