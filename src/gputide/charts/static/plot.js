// What every plot shares: colours, numbers, the frame around the canvas, the keyboard, the tooltip.

const root = document.documentElement;
const plots = [];  // every uPlot on the page
const rootPixels = () => parseFloat(getComputedStyle(root).fontSize);
const thickness = () => rootPixels() / 16;  // lines and points grow with the text, on large screens
const color = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
const lineColor = (name) => () => color(`line-${name}`);
const fillColor = (name) => () => `${color(`line-${name}`)}24`;
const font = () => `${Math.round(rootPixels() * 0.75)}px system-ui, sans-serif`;

function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === true) node.setAttribute(name, '');
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children);  // strings become text nodes: nothing is ever parsed as HTML
  return node;
}

function numberFormat(tag) {
  const format = new Intl.NumberFormat(tag, {maximumSignificantDigits: 4});
  return (value) => (value == null ? '–' : format.format(value));
}

// The frame: keys to switch lines, the plot itself, a place for the tooltip and for what is read aloud.
function frame(host, chart, keys) {
  const said = make('p', {class: 'said', 'aria-live': 'polite'});
  const reset = make('button', {type: 'button', class: 'reset', disabled: true}, chart.texts.reset);
  const bar = make('div', {class: 'bar'}, make('div', {class: 'keys'}, ...keys), reset);
  const stage = make('div', {
    class: 'stage', tabindex: '0', role: 'group', 'aria-describedby': `${host.id}-summary`,
    'aria-label': `${chart.title}. ${chart.kind === 'lines' ? chart.texts.keys : chart.texts.scatterKeys}`,
  });
  const tip = make('div', {class: 'tip', hidden: true, 'aria-hidden': 'true'});
  host.append(bar, stage, said);
  return {said, reset, bar, stage, tip};
}

function keyButton(label, colorName, isShown, onToggle) {
  const swatch = make('span', {class: `swatch line-${colorName}`});
  const button = make('button', {type: 'button', class: 'key', 'aria-pressed': String(isShown)}, swatch, label);
  button.addEventListener('click', () => {
    const shown = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(shown));
    onToggle(shown);
  });
  return button;
}

function plotSize(stage) {
  const width = Math.max(Math.floor(stage.clientWidth), 240);
  return {width, height: Math.round(Math.min(Math.max(width * 0.32, 250), rootPixels() * 26))};
}

function axis(extra) {
  return {
    stroke: () => color('ink-soft'),
    font: font(),
    labelFont: font(),
    space: rootPixels() * 2.4,
    labelSize: rootPixels() * 1.5,
    grid: {stroke: () => color('grid'), width: 1},
    ticks: {stroke: () => color('grid'), width: 1, size: 5},
    ...extra,
  };
}

// Numbers may be wide ("1,250,000"): the y axis is as wide as its longest label.
function yAxisSize(u, values) {
  const longest = (values || []).reduce((most, text) => Math.max(most, (text || '').length), 2);
  return Math.ceil(Math.max(longest * rootPixels() * 0.45 + 18, rootPixels() * 3));
}

function follow(u, stage) {
  plots.push(u);
  new ResizeObserver(() => {
    const size = plotSize(stage);
    if (size.width !== u.width || size.height !== u.height) u.setSize(size);
  }).observe(stage);
}

function placeTip(u, tip, left, top) {
  tip.hidden = false;
  const bounds = u.over.getBoundingClientRect();
  const isRight = left > bounds.width / 2;
  const gap = 14;
  const x = isRight ? left - tip.offsetWidth - gap : left + gap;
  const most = Math.max(bounds.width - tip.offsetWidth, 0);
  const y = Math.min(Math.max(top - tip.offsetHeight / 2, 0), Math.max(bounds.height - tip.offsetHeight, 0));
  tip.style.transform = `translate(${Math.min(Math.max(x, 0), most)}px, ${y}px)`;
}

function tipRow(colorName, label, value) {
  return make('div', {class: 'tip-row'}, make('span', {class: `swatch line-${colorName}`}),
    make('span', {class: 'tip-label'}, label), make('span', {class: 'tip-value'}, value));
}

// A table of the numbers for those who cannot or will not look at the curve, built when asked for.
function tableBox(host, chart, build, csv) {
  const body = make('div', {class: 'scroll', tabindex: '0', role: 'group', 'aria-label': chart.title});
  const details = make('details', {class: 'numbers'}, make('summary', {}, chart.texts.table), body);
  const fill = () => { if (details.open) body.replaceChildren(...build()); };
  details.addEventListener('toggle', fill);
  const save = make('button', {type: 'button', class: 'save'}, chart.texts.csv);
  save.addEventListener('click', () => {
    const url = URL.createObjectURL(new Blob([csv()], {type: 'text/csv'}));
    const link = make('a', {href: url, download: `${chart.title}.csv`});
    link.click();
    URL.revokeObjectURL(url);
  });
  host.append(make('div', {class: 'more'}, details, save));
  return fill;
}

function tableOf(heads, rows) {
  const cell = (text, at) => make(at === 0 ? 'th' : 'td', {class: at ? 'number' : null, scope: at ? null : 'row'}, text);
  return make('table', {},
    make('thead', {}, make('tr', {}, ...heads.map((text, at) => make('th', {scope: 'col', class: at ? 'number' : null}, text)))),
    make('tbody', {}, ...rows.map((row) => make('tr', {}, ...row.map(cell)))));
}

// A spreadsheet must not run what a label says: a leading =, +, - or @ of a text is defused.
function csvField(value) {
  if (typeof value === 'number') return String(value);
  const text = value == null ? '' : String(value);
  return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

const csvText = (rows) => `${rows.map((row) => row.map(csvField).join(',')).join('\r\n')}\r\n`;
