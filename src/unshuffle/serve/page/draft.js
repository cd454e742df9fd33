// The writer's tab: a draft with its weak steps marked; one press moves a sentence, and every move can be undone.
import { latest, post } from "./api.js";
import { busy, byId, showWarnings, speak } from "./element.js";
import { offerExamples } from "./examples.js";
import { linkTo } from "./fragment.js";
import { adviceOn } from "./advice.js";
import { move, paragraphsOf, textOf } from "./paragraphs.js";
import { showPassage } from "./passage.js";
import { copy } from "./save.js";
import { sentenceCase } from "./words.js";

let checked = ""; // the text that the passage shows
let earlier = []; // texts to go back to
let paragraphs = [];

const score = latest((signal, sentences) => post("score", { sentences }, signal));

const check = () => busy(byId("check"), byId("draft-problem"), async () => {
  const text = byId("draft").value;
  if (!text.trim()) throw new Error("There is no draft yet. Paste one or pick an example.");
  const { sentences } = await post("split", { text, split: "sentences" });
  await judge(text, paragraphsOf(text, sentences));
});

/** Ask what the service makes of a text's paragraphs, and show it. */
async function judge(text, asked, focused) {
  const sentences = asked.flat();
  const answer = await score(sentences);
  if (!answer) return;
  paragraphs = asked;
  const advice = adviceOn(answer, sentences);
  byId("draft-result").hidden = false;
  byId("draft-empty").hidden = true;
  byId("draft-headline").textContent = sentenceCase(answer.verdict);
  byId("draft-headline").dataset.level = advice.size ? "unsure" : "fair";
  showWarnings(byId("draft-warnings"), answer.warnings);
  showPassage(byId("passage"), paragraphs, advice, moveIt, focused);
  checked = text;
  mark();
}

const moveIt = (from, to) => busy(byId("check"), byId("draft-problem"), async () => {
  // The move would be made in the text as it was checked, and what was typed since would be gone.
  if (byId("draft").value !== checked) throw new Error("The draft has changed since it was checked. Check it again, then move.");
  const changed = move(paragraphs, from, to);
  const text = textOf(changed);
  earlier.push(checked);
  byId("draft").value = text;
  await judge(text, changed, to);
  speak(`Sentence ${from + 1} moved to position ${to + 1}. Undo takes it back.`);
});

async function undo() {
  if (!earlier.length) return;
  byId("draft").value = earlier.pop();
  await check();
  speak("The move was taken back.");
  (byId("undo").disabled ? byId("check") : byId("undo")).focus();
}

function mark() {
  const old = Boolean(checked) && byId("draft").value !== checked;
  byId("draft-old").hidden = !old;
  byId("draft-result").classList.toggle("stale", old);
  byId("undo").disabled = !earlier.length;
}

/** Fill in a draft and check it. */
export function fillDraft(text) {
  byId("draft").value = text;
  earlier = [];
  check();
}

/** Make the tab work. */
export function setUpDraft() {
  // One sentence is put out of place, so that there is something to see.
  offerExamples(byId("draft-examples"), ({ sentences }) =>
    fillDraft([sentences[0], ...sentences.slice(2, -1), sentences[1], sentences.at(-1)].join(" ")));
  byId("check").addEventListener("click", check);
  byId("check-again").addEventListener("click", check);
  byId("undo").addEventListener("click", undo);
  byId("draft").addEventListener("input", () => {
    earlier = []; // what was typed since must not be lost by undoing an older move
    mark();
  });
  byId("passage").addEventListener("keydown", (event) => {
    if (event.key !== "z" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    undo();
  });
  const say = (button, words) => {
    const usual = button.textContent;
    button.textContent = words;
    setTimeout(() => (button.textContent = usual), 1500);
  };
  byId("draft-copy").addEventListener("click", async () => {
    await copy(byId("draft").value);
    say(byId("draft-copy"), "Copied");
  });
  byId("draft-link").addEventListener("click", async () => {
    await copy(linkTo("draft", byId("draft").value));
    say(byId("draft-link"), "Link copied");
  });
}
