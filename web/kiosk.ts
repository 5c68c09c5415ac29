/** The page on a wall: `#kiosk` in its address, alone or beside other parts of it. */

const update = () =>
  document.documentElement.classList.toggle('kiosk', /[#&]kiosk(?:&|$)/.test(location.hash));

/** Follows the address. */
export function followKiosk(): void {
  update();
  addEventListener('hashchange', update);
}
