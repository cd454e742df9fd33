// The examples, as buttons that fill a text field.
import { element } from "./element.js";

/** Buttons in a place; `pick(lines)` gets an example's sentences, shuffled or as written. */
export async function offerExamples(place, shuffled, pick) {
  const examples = await (await fetch("/page/examples.json")).json();
  place.replaceChildren(...examples.map((example) =>
    element("button", {
      class: "chip", type: "button",
      onclick: () => pick(shuffled ? example.shown.map((number) => example.sentences[number]) : example.sentences),
    }, example.name)));
}
