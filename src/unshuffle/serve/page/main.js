// Starts the page.
import { get } from "./api.js";
import { byId } from "./element.js";
import { setUpExercise } from "./exercise.js";
import { draw, setUpOrder } from "./order.js";
import { setUpTabs } from "./tabs.js";

setUpOrder();
setUpExercise();
setUpTabs(draw);

get("models").then(
  ({ models, limits }) => {
    byId("about").textContent =
      `Model: ${models[0].name}. Up to ${limits.sentences} sentences at a time. Nothing you paste is stored.`;
  },
  () => {}, // the line is a courtesy; what matters is said when an order is asked for
);
