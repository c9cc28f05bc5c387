/**
 * Sections as tabs. The sections of a `data-tabs` element begin with a heading, which names their
 * tab. Its value is what the sections are about (`language`): a choice holds for all elements with
 * that value, and is remembered. Without script, all sections are shown, each with its heading.
 */
interface Tab {
  readonly name: string;
  readonly opener: HTMLButtonElement;
  readonly panel: HTMLElement;
}

/** Where each key leads: from one to its neighbours in a ring, or to an end. */
const KEYS: Readonly<Record<string, (at: number) => number>> = {
  ArrowRight: (at) => at + 1,
  ArrowLeft: (at) => at - 1,
  Home: () => 0,
  End: () => -1,
};

const all = [...document.querySelectorAll('[data-tabs]')].map(tabsOf);
for (const { about, tabs } of all) choose(about, remembered(about) ?? tabs[0]?.name ?? '');
showTarget();
addEventListener('hashchange', showTarget);

function tabsOf(host: Element, number: number) {
  const about = host.getAttribute('data-tabs') ?? '';
  const list = Object.assign(document.createElement('div'), {
    role: 'tablist',
    ariaLabel: about.replace(/^./, (letter) => letter.toUpperCase()),
  });
  const tabs = [...host.querySelectorAll<HTMLElement>(':scope > section')].flatMap((panel, index): Tab[] => {
    const heading = panel.querySelector('h2, h3, h4, h5');
    if (heading === null) return [];
    const name = heading.textContent?.trim() ?? '';
    const opener = Object.assign(document.createElement('button'), {
      type: 'button',
      role: 'tab',
      id: `tab-${number}-${index}`,
      textContent: name,
    });
    panel.id ||= `panel-${number}-${index}`;
    opener.setAttribute('aria-controls', panel.id);
    panel.role = 'tabpanel';
    panel.setAttribute('aria-labelledby', opener.id);
    opener.addEventListener('click', () => {
      choose(about, name, opener);
      remember(about, name);
    });
    // The browser found a text in it, or a link leads into it.
    panel.addEventListener('beforematch', () => choose(about, name, panel));
    list.append(opener);
    return [{ name, opener, panel }];
  });
  list.addEventListener('keydown', (event) => {
    const at = tabs.findIndex(({ opener }) => opener === document.activeElement);
    const to = KEYS[event.key]?.(at);
    const next = to === undefined ? undefined : tabs.at(to % tabs.length);
    if (next === undefined) return;
    event.preventDefault();
    next.opener.focus();
    next.opener.click();
  });
  host.prepend(list);
  return { about, tabs };
}

/**
 * Shows the sections of that name, wherever there is one.
 * @param still stays where it is in the window, whatever changes its height above it
 */
function choose(about: string, name: string, still?: Element) {
  const before = still?.getBoundingClientRect().top ?? 0;
  for (const { tabs } of all.filter((each) => each.about === about)) {
    const chosen = tabs.find((tab) => tab.name === name);
    if (chosen === undefined && tabs.some(({ opener }) => opener.ariaSelected === 'true')) continue;
    for (const tab of tabs) {
      const isChosen = tab === (chosen ?? tabs[0]);
      tab.opener.ariaSelected = String(isChosen);
      tab.opener.tabIndex = isChosen ? 0 : -1;
      // What is hidden so can still be found by a search in the page.
      if (isChosen) tab.panel.removeAttribute('hidden');
      else tab.panel.setAttribute('hidden', 'until-found');
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

function remembered(about: string) {
  try {
    return localStorage.getItem(`tabs-${about}`);
  } catch {
    // The browser keeps nothing.
    return null;
  }
}

function remember(about: string, name: string) {
  try {
    localStorage.setItem(`tabs-${about}`, name);
  } catch {
    // The choice holds for this page alone.
  }
}
