// Plays the story of an order.
import { byId } from "./element.js";

const WHOLE = 30_000; // milliseconds, shared among the steps as long as each can be read
const [SHORTEST, LONGEST] = [1000, 2800];

/** The buttons and the slider; calls `show(step)` whenever another step is to be seen. */
export class Player {
  constructor(show) {
    this.show = show;
    this.timer = 0;
    this.slider = byId("slider");
    this.slider.addEventListener("input", () => {
      this.pause();
      this.go(Number(this.slider.value));
    });
    byId("step-back").addEventListener("click", () => this.stepBy(-1));
    byId("step-on").addEventListener("click", () => this.stepBy(1));
    byId("play").addEventListener("click", () => (this.timer ? this.pause() : this.play()));
  }

  /** Start over with this many steps, at the last one. */
  load(steps) {
    this.pause();
    this.last = steps - 1;
    this.slider.max = this.last;
    this.go(this.last);
  }

  go(step) {
    this.step = Math.min(Math.max(step, 0), this.last);
    this.slider.value = this.step;
    byId("step-back").disabled = this.step === 0;
    byId("step-on").disabled = this.step === this.last;
    this.slider.setAttribute("aria-valuetext", this.show(this.step));
  }

  stepBy(change) {
    this.pause();
    this.go(this.step + change);
  }

  play() {
    if (this.step === this.last) this.go(0);
    this.timer = setInterval(() => {
      this.go(this.step + 1);
      if (this.step === this.last) this.pause();
    }, Math.min(LONGEST, Math.max(SHORTEST, WHOLE / (this.last + 1))));
    this.mark(true);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
    this.mark(false);
  }

  mark(playing) {
    byId("play").classList.toggle("playing", playing);
    byId("play").setAttribute("aria-label", playing ? "Pause" : "Play how the order came about");
  }
}
