// Starts the page.
import { get } from "./api.js";
import { setUpCompare, showModels } from "./compare.js";
import { fillDraft, setUpDraft } from "./draft.js";
import { byId } from "./element.js";
import { setUpExercise, showFormats } from "./exercise.js";
import { readFragment } from "./fragment.js";
import { draw, fillOrder, setUpOrder } from "./order.js";
import { setUpTabs } from "./tabs.js";

setUpOrder();
setUpDraft();
setUpCompare();
setUpExercise();
setUpTabs((name) => name === "order" && draw());

const takeLink = () => {
  const { tab, text, split } = readFragment();
  if (text) (tab === "draft" ? fillDraft : fillOrder)(text, split);
};
addEventListener("hashchange", takeLink);
takeLink();

get("models").then(
  ({ models, limits, exercise_formats: formats }) => {
    byId("about").textContent =
      `Model: ${models[0].name}. Up to ${limits.sentences} sentences at a time. Nothing you paste is stored.`;
    showModels(models.map(({ name }) => name));
    showFormats(formats);
  },
  () => {}, // the line is a courtesy; problems are told when an order is asked for
);
