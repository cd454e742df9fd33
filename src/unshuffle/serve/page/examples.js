// The examples, as buttons.
import { element } from "./element.js";

let loading;

/** Buttons in a container; `pick(example)` gets { name, sentences, shown, note }. */
export async function offerExamples(container, pick) {
  loading ??= fetch("/page/examples.json").then((answer) => answer.json());
  container.replaceChildren(...(await loading).map((example) =>
    element("button", { class: "chip", type: "button", onclick: () => pick(example) }, example.name)));
}
