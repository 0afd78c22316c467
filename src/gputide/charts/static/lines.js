// Lines over time.

const groups = new Map();  // group name -> plots that share the cursor and the zoom

function clockTexts(tag) {
  const month = (style) => Array.from({length: 12}, (_, at) =>
    new Intl.DateTimeFormat(tag, {month: style, timeZone: 'UTC'}).format(new Date(Date.UTC(2026, at, 15))));
  const day = (style) => Array.from({length: 7}, (_, at) =>
    new Intl.DateTimeFormat(tag, {weekday: style, timeZone: 'UTC'}).format(new Date(Date.UTC(2026, 1, 1 + at))));
  return {MMMM: month('long'), MMM: month('short'), WWWW: day('long'), WWW: day('short')};
}

// Per tick distance: label, and what is added below at the first tick of a new year, day, minute.
const clockLabels = (() => {
  const date = '\n{D} {MMM}';
  const dated = `${date} {YYYY}`;
  return [
    [31536000, '{YYYY}', null, null, null, null, null, null, 1],
    [2419200, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
    [86400, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
    [60, '{HH}:{mm}', dated, null, date, null, null, null, 1],
    [1, '{HH}:{mm}:{ss}', dated, null, date, null, null, null, 1],
  ];
})();

function knownZone(zone) {
  try {
    new Intl.DateTimeFormat('en', {timeZone: zone});
    return zone;
  } catch {
    return 'UTC';
  }
}

function timesOf(times) {
  if (times.list) return times.list;
  return Array.from({length: times.count}, (_, at) => times.start + at * times.step);
}

function seriesOf(line) {
  return {
    label: line.label,
    show: !line.hidden,
    stroke: lineColor(line.color),
    fill: line.filled ? fillColor(line.color) : undefined,
    width: 1.5 * thickness(),
    paths: line.stepped ? uPlot.paths.stepped({align: 1}) : uPlot.paths.linear(),
    points: {show: false},
  };
}

function drawLines(host, chart) {
  const zone = knownZone(chart.zone);
  const {tag} = chart.texts;
  const number = numberFormat(tag);
  const moment = new Intl.DateTimeFormat(tag === 'en' ? 'en-GB' : tag, {timeZone: zone, weekday: 'short', day: 'numeric', month: 'short',
    year: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23'});
  const times = timesOf(chart.times);
  const when = (at) => moment.format(new Date(times[at] * 1000));
  const value = (line, at) => [number(line.values[at]), line.values[at] == null ? '' : chart.unit].join(' ').trim();

  let u;
  const keys = chart.lines.map((line, at) =>
    keyButton(line.label, line.color, !line.hidden, (shown) => u.setSeries(at + 1, {show: shown})));
  const parts = frame(host, chart, keys);
  const shown = () => chart.lines.filter((_, at) => u.series[at + 1].show);
  const whole = [times[0], times[times.length - 1]];
  const isZoomed = () => u.scales.x.min > whole[0] || u.scales.x.max < whole[1];

  function showTip() {
    const {idx, left, top} = u.cursor;
    if (idx == null || left < 0) { parts.tip.hidden = true; return; }
    parts.tip.replaceChildren(make('div', {class: 'tip-head'}, when(idx)),
      ...shown().map((line) => tipRow(line.color, line.label, value(line, idx))));
    placeTip(u, parts.tip, left, top < 0 ? u.over.clientHeight / 2 : top);
  }

  function zoom(least, most) {
    const min = Math.max(least, whole[0]);
    const max = Math.min(most, whole[1]);
    if (max > min) u.setScale('x', {min, max});
  }

  function afterZoom() {
    parts.reset.disabled = !isZoomed();
    fillTable();
    for (const other of groups.get(chart.group) || []) {
      if (other.scales.x.min !== u.scales.x.min || other.scales.x.max !== u.scales.x.max) {
        other.setScale('x', {min: u.scales.x.min, max: u.scales.x.max});
      }
    }
  }

  const bands = [];
  const series = [{}, ...chart.lines.map(seriesOf)];
  const columns = [times, ...chart.lines.map((line) => line.values)];
  chart.lines.forEach((line, at) => {
    if (!line.lower) return;
    series.push({stroke: 'transparent', width: 0, points: {show: false}});
    columns.push(line.lower);
    bands.push({series: [at + 1, series.length - 1], fill: fillColor(line.color)});
  });

  const fillTable = tableBox(host, chart, () => table(), () => csvText([
    [chart.texts.time, ...chart.lines.map((line) => line.label)],
    ...times.map((seconds, at) => [new Date(seconds * 1000).toISOString(), ...chart.lines.map((line) => line.values[at])]),
  ]));

  function table() {
    const first = times.findIndex((seconds) => seconds >= u.scales.x.min);
    let last = times.length - 1;
    while (last > first && times[last] > u.scales.x.max) last -= 1;
    const rows = Math.min(48, last - first + 1);
    const size = (last - first + 1) / rows;
    const body = Array.from({length: rows}, (_, row) => {
      const [from, to] = [first + Math.floor(row * size), first + Math.floor((row + 1) * size)];
      return [when(from), ...shown().flatMap((line) => {
        const known = line.values.slice(from, to).filter((v) => v != null);
        return known.length ? [number(Math.min(...known)), number(Math.max(...known))] : [chart.texts.unknown, chart.texts.unknown];
      })];
    });
    const heads = shown().flatMap((line) => [`${line.label}, ${chart.texts.least}`, `${line.label}, ${chart.texts.most}`]);
    return [make('p', {class: 'note'}, chart.texts.tableRows.replace('{rows}', rows)), tableOf([chart.texts.time, ...heads], body)];
  }

  u = new uPlot({
    ...plotSize(parts.stage),
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
    fmtDate: (template) => uPlot.fmtDate(template, clockTexts(tag)),
    legend: {show: false},
    cursor: {
      y: false,
      drag: {x: true, y: false},
      points: {size: 8 * thickness()},
      sync: chart.group ? {key: chart.group, setSeries: false} : undefined,
    },
    scales: {y: {range: (_, least, most) => [0, most > 0 ? most * 1.06 : 1]}},
    axes: [axis({values: clockLabels, space: rootPixels() * 4.4, size: rootPixels() * 3}), axis({values: (_, ticks) => ticks.map(number), size: yAxisSize})],
    series,
    bands,
    hooks: {
      setCursor: [showTip],
      setScale: [(_, key) => { if (key === 'x') afterZoom(); }],
      ready: [(plot) => plot.over.append(parts.tip)],
    },
  }, columns, parts.stage);

  if (chart.group) groups.set(chart.group, [...(groups.get(chart.group) || []), u]);
  parts.reset.addEventListener('click', () => zoom(...whole));
  parts.stage.addEventListener('keydown', (event) => onKey(event));
  parts.stage.addEventListener('blur', () => u.setCursor({left: -10, top: -10}));
  follow(u, parts.stage);

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const {min, max} = u.scales.x;
    const seen = u.cursor.idx != null && u.cursor.left >= 0 ? u.cursor.idx : u.valToIdx((min + max) / 2);
    const pixel = Math.max(1, Math.round((u.valToIdx(max) - u.valToIdx(min)) / 200));
    const stride = event.shiftKey ? 10 * pixel : pixel;
    const around = (factor) => zoom(times[seen] - (times[seen] - min) * factor, times[seen] + (max - times[seen]) * factor);
    const actions = {
      ArrowLeft: () => moveTo(seen - stride), ArrowRight: () => moveTo(seen + stride),
      Home: () => moveTo(u.valToIdx(min)), End: () => moveTo(u.valToIdx(max)),
      '+': () => around(0.5), '=': () => around(0.5), '-': () => around(2),
      0: () => zoom(...whole), Escape: () => zoom(...whole),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  function moveTo(wanted) {
    const at = Math.min(Math.max(wanted, u.valToIdx(u.scales.x.min)), u.valToIdx(u.scales.x.max));
    u.setCursor({left: u.valToPos(times[at], 'x'), top: u.over.clientHeight / 2});
    parts.said.textContent = [when(at), ...shown().map((line) => `${line.label}: ${line.values[at] == null ? chart.texts.unknown : value(line, at)}`)].join('. ');
  }
}
