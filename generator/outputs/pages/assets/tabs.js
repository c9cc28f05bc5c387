/**
 * Sections as tabs. The sections of a `data-tabs` element begin with a heading, which names their
 * tab. Its value is what the sections are about (`language`): a choice holds for all elements with
 * that value, and is remembered. Without script, all sections are shown, each with its heading.
 */

/**
 * @typedef {object} Tabs
 * @property {string} about
 * @property {readonly Tab[]} tabs
 */

/**
 * @typedef {object} Tab
 * @property {string} name
 * @property {HTMLButtonElement} button
 * @property {HTMLElement} panel
 */

const KEYS = new Map([
  ['ArrowRight', (/** @type {number} */ at) => at + 1],
  ['ArrowLeft', (/** @type {number} */ at) => at - 1],
  ['Home', () => 0],
  ['End', () => -1],
]);

/** @type {Tabs[]} */
const all = [...document.querySelectorAll('[data-tabs]')].map(tabsOf);
for (const { about, tabs } of all) choose(about, remembered(about) ?? tabs[0]?.name ?? '');
showTarget();
addEventListener('hashchange', showTarget);

/**
 * @param {Element} element
 * @param {number} number
 * @returns {Tabs}
 */
function tabsOf(element, number) {
  const about = element.getAttribute('data-tabs') ?? '';
  const list = document.createElement('div');
  list.role = 'tablist';
  list.ariaLabel = about.charAt(0).toUpperCase() + about.slice(1);
  const tabs = [...element.querySelectorAll(':scope > section')].flatMap((panel, index) => {
    const heading = panel.querySelector('h2, h3, h4, h5');
    if (!(panel instanceof HTMLElement) || heading === null) return [];
    const name = heading.textContent?.trim() ?? '';
    const button = document.createElement('button');
    button.type = 'button';
    button.role = 'tab';
    button.id = `tab-${number}-${index}`;
    button.textContent = name;
    panel.id ||= `panel-${number}-${index}`;
    button.setAttribute('aria-controls', panel.id);
    panel.role = 'tabpanel';
    panel.setAttribute('aria-labelledby', button.id);
    button.addEventListener('click', () => {
      choose(about, name, button);
      remember(about, name);
    });
    // The browser found a text in it, or a link leads into it.
    panel.addEventListener('beforematch', () => choose(about, name, panel));
    list.append(button);
    return [{ name, button, panel }];
  });
  list.addEventListener('keydown', (event) => {
    const at = tabs.findIndex(({ button }) => button === document.activeElement);
    const next = tabs.at((KEYS.get(event.key)?.(at) ?? at) % tabs.length);
    if (!KEYS.has(event.key) || next === undefined) return;
    event.preventDefault();
    next.button.focus();
    next.button.click();
  });
  element.prepend(list);
  return { about, tabs };
}

/**
 * Shows the sections of that name, wherever there is one.
 * @param {string} about
 * @param {string} name
 * @param {Element} [still] stays where it is in the window, whatever changes its height above it
 */
function choose(about, name, still) {
  const before = still?.getBoundingClientRect().top ?? 0;
  for (const { tabs } of all.filter((each) => each.about === about)) {
    const chosen = tabs.find((tab) => tab.name === name);
    if (chosen === undefined && tabs.some(({ button }) => button.ariaSelected === 'true')) continue;
    for (const [index, { button, panel }] of tabs.entries()) {
      const isChosen = chosen === undefined ? index === 0 : tabs[index] === chosen;
      button.ariaSelected = String(isChosen);
      button.tabIndex = isChosen ? 0 : -1;
      // What is hidden so can still be found by a search in the page.
      if (isChosen) panel.removeAttribute('hidden');
      else panel.setAttribute('hidden', 'until-found');
    }
  }
  const after = still?.getBoundingClientRect().top ?? 0;
  if (after !== before) scrollBy(0, after - before);
}

/** Shows the section that the address names, or that holds what it names. */
function showTarget() {
  const target = location.hash === '' ? null : document.getElementById(location.hash.slice(1));
  if (target === null) return;
  for (const { about, tabs } of all) {
    const tab = tabs.find(({ panel }) => panel.contains(target));
    if (tab === undefined) continue;
    choose(about, tab.name);
    (target.closest('[data-tabs]') ?? target).scrollIntoView();
  }
}

/** @param {string} about */
function remembered(about) {
  try {
    return localStorage.getItem(`tabs-${about}`);
  } catch {
    // The browser keeps nothing.
    return null;
  }
}

/**
 * @param {string} about
 * @param {string} name
 */
function remember(about, name) {
  try {
    localStorage.setItem(`tabs-${about}`, name);
  } catch {
    // The choice holds for this page alone.
  }
}
