// The examples, as buttons.
import { element } from "./element.js";

let loading;

/** Buttons in a place; `pick(example)` gets { name, sentences, shown, note }. */
export async function offerExamples(place, pick) {
  loading ??= fetch("/page/examples.json").then((answer) => answer.json());
  place.replaceChildren(...(await loading).map((example) =>
    element("button", { class: "chip", type: "button", onclick: () => pick(example) }, example.name)));
}
