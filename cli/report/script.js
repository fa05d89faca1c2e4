// Steps through a worst pair. Without this script the table shows all steps at once.
"use strict";
function stepThrough(root) {
  for (const stepper of root.querySelectorAll(".stepper")) {
    const rows = [...stepper.querySelectorAll("tbody tr")];
    const heads = [...stepper.querySelectorAll("thead th.fact")].map((cell) => cell.textContent);
    const buttons = stepper.querySelector(".buttons");
    const state = stepper.querySelector(".state");
    let done = rows.length;

    const facts = (row) =>
      [...row.querySelectorAll("td.off")].map((cell) => {
        const place = [...row.children].indexOf(cell) - 4;
        return `${heads[place]} is off by ${cell.textContent}`;
      });

    const words = () => {
      if (done === 0) return "Before any change: the first database.";
      const off = facts(rows[done - 1]);
      const whole = rows.length === Number(stepper.dataset.moves);
      if (done === rows.length && !whole) return `The first ${done} changes are shown.`;
      const all = done === 1 ? "The one change is made: " : `All ${done} changes made: `;
      const start = done === rows.length ? all : `After change ${done}: `;
      if (off.length) return `${start}${off.join("; ")}. Not a possible database.`;
      return `${start}every known fact shown is as it was.`;
    };

    const show = () => {
      rows.forEach((row, place) => {
        row.classList.toggle("later", place >= done);
        row.classList.toggle("now", place === done - 1 && done < rows.length);
        if (place === done - 1 && done < rows.length) row.setAttribute("aria-current", "step");
        else row.removeAttribute("aria-current");
      });
      const row = rows[done - 1];
      if (row && done < rows.length) row.scrollIntoView({ block: "nearest" });
      state.textContent = words();
      for (const button of buttons.children) {
        const back = ["first", "back"].includes(button.dataset.step);
        button.setAttribute("aria-disabled", String(back ? done === 0 : done === rows.length));
      }
    };

    const moves = {
      first: () => 0,
      back: () => Math.max(0, done - 1),
      next: () => Math.min(rows.length, done + 1),
      last: () => rows.length,
    };
    buttons.addEventListener("click", (event) => {
      const step = event.target.dataset.step;
      if (!step) return;
      done = moves[step]();
      show();
    });
    buttons.hidden = false;
    show();
  }
}
stepThrough(document);
