// Cost against harm: points of several contestants, and a line along the best of each.

// One column of x for all points of all curves, so that each point keeps its own place in it.
function columnsOf(curves) {
  const points = curves.flatMap((curve, of) => curve.x.map((x, at) => ({of, at, x, y: curve.y[at], isBest: curve.front[at], isChosen: curve.chosen[at]})));
  points.sort((a, b) => a.x - b.x);
  const pick = (of, isBest) => points.map((p) => (p.of === of && !p.isChosen && (p.isBest || !isBest) ? p.y : null));
  const best = curves.map((_, of) => pick(of, true));
  const all = curves.map((_, of) => pick(of, false));
  return {points, columns: [points.map((p) => p.x), ...best, ...all]};
}

function drawScatter(host, chart) {
  const number = numberFormat(chart.texts.tag);
  const {points, columns} = columnsOf(chart.curves);
  const count = chart.curves.length;
  const ys = points.map((p) => p.y);
  const isLog = Math.min(...ys) > 0 && Math.max(...ys) > 8 * Math.min(...ys);
  let u;
  let marked = null;

  const keys = chart.curves.map((curve, of) => keyButton(curve.label, curve.color, !curve.hidden, (shown) => {
    u.setSeries(of + 1, {show: shown});
    u.setSeries(of + 1 + count, {show: shown});
  }));
  const parts = frame(host, chart, keys);
  const isShown = (point) => u.series[point.of + 1].show;
  const place = (point) => [u.valToPos(point.x, 'x'), u.valToPos(point.y, 'y')];
  const words = (point) => {
    const curve = chart.curves[point.of];
    return [curve.label, `${chart.yLabel}: ${number(point.y)} ${chart.yUnit}`, `${chart.xLabel}: ${number(point.x)} ${chart.xUnit}`, curve.notes[point.at]];
  };

  function mark(point) {
    marked = point;
    if (!point) { parts.tip.hidden = true; u.redraw(false); return; }
    const [head, ...rest] = words(point);
    parts.tip.replaceChildren(
      make('div', {class: 'tip-head'}, make('span', {class: `swatch line-${chart.curves[point.of].color}`}), head),
      ...rest.filter(Boolean).map((text) => make('div', {}, text)));
    const [left, top] = place(point);
    placeTip(u, parts.tip, left, top);
    u.redraw(false);
  }

  function nearest() {
    const {left, top} = u.cursor;
    if (left < 0) { if (marked && document.activeElement !== parts.stage) mark(null); return; }
    const reach = rootPixels() * 2;
    let best = null;
    let least = reach * reach;
    for (const point of points) {
      if (!isShown(point)) continue;
      const [x, y] = place(point);
      const distance = (x - left) ** 2 + (y - top) ** 2;
      if (distance < least) [best, least] = [point, distance];
    }
    if (best !== marked) mark(best);
  }

  function drawOver(plot) {
    const {ctx, bbox} = plot;
    const ratio = devicePixelRatio * thickness();
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    if (chart.xLimit != null) {
      const x = plot.valToPos(chart.xLimit, 'x', true);
      ctx.strokeStyle = color('line-limit');
      ctx.lineWidth = ratio;
      ctx.setLineDash([6 * ratio, 4 * ratio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.fillStyle = color('line-limit');
      ctx.font = `${Math.round(12 * ratio)}px system-ui, sans-serif`;
      const isRight = x > bbox.left + bbox.width / 2;
      ctx.textAlign = isRight ? 'right' : 'left';
      ctx.fillText(chart.xLimitLabel, x + (isRight ? -6 : 6) * ratio, bbox.top + 14 * ratio);
    }
    ctx.setLineDash([]);
    points.filter((p) => p.isChosen && isShown(p)).forEach((p) => drawDiamond(plot, p, chart.curves[p.of].color));
    if (marked && isShown(marked)) {
      ctx.strokeStyle = color('ink');
      ctx.lineWidth = 2 * ratio;
      ctx.beginPath();
      ctx.arc(plot.valToPos(marked.x, 'x', true), plot.valToPos(marked.y, 'y', true), 9 * ratio, 0, 2 * Math.PI);
      ctx.stroke();
    }
    ctx.restore();
  }

  // Chosen points are drawn over the series; the y axis must have room for them too.
  function withChosen(plot, least, most) {
    const {min, max} = plot.scales.x;
    const own = points.filter((p) => p.isChosen && plot.series[p.of + 1].show && p.x >= min && p.x <= max).map((p) => p.y);
    return [Math.min(...own, least ?? Infinity), Math.max(...own, most ?? -Infinity)];
  }

  const dots = (curve, isBest) => ({
    label: curve.label,
    show: !curve.hidden,
    stroke: lineColor(curve.color),
    width: isBest ? 1.5 * thickness() : 0,
    spanGaps: true,
    paths: isBest ? uPlot.paths.linear() : () => null,
    points: {show: true, size: (isBest ? 7 : 5) * thickness(), width: 1.5 * thickness(), stroke: lineColor(curve.color), fill: isBest ? lineColor(curve.color) : () => color('paper')},
  });
  const rows = () => points.filter(isShown).sort((a, b) => a.of - b.of || a.x - b.x);
  tableBox(host, chart, () => [tableOf([chart.title, chart.yLabel, chart.xLabel, chart.noteLabel], rows().map(words))],
    () => csvText([[chart.title, `${chart.yLabel} (${chart.yUnit})`, `${chart.xLabel} (${chart.xUnit})`, chart.noteLabel],
      ...rows().map((p) => [chart.curves[p.of].label, p.y, p.x, chart.curves[p.of].notes[p.at]])]));

  const xEnd = Math.max(...points.map((p) => p.x), chart.xLimit || 0) * 1.25 || 1;
  const xStart = -0.15 * chart.xLinearBelow;  // room for the points at 0
  u = new uPlot({
    ...plotSize(parts.stage),
    legend: {show: false},
    cursor: {x: false, y: false, drag: {x: true, y: false}, points: {show: false}},
    scales: {
      x: {time: false, distr: 4, asinh: chart.xLinearBelow, range: (_, least, most) => (most > least ? [least, most] : [xStart, 1])},
      y: {distr: isLog ? 3 : 1, range: (plot, least, most) => yRange(...withChosen(plot, least, most), isLog)},
    },
    axes: [
      axis({label: `${chart.xLabel} (${chart.xUnit})`, values: (_, ticks) => ticks.map(number), splits: (plot) => decades(plot, chart.xLinearBelow), filter: (_, s) => s, size: rootPixels() * 2}),
      axis({label: `${chart.yLabel} (${chart.yUnit})`, values: (_, ticks) => ticks.map(number), size: yAxisSize, ...(isLog ? {splits: logTicks, filter: (_, s) => s} : {})}),
    ],
    series: [{}, ...chart.curves.map((c) => dots(c, true)), ...chart.curves.map((c) => dots(c, false))],
    hooks: {
      draw: [drawOver],
      setCursor: [nearest],
      setScale: [(plot) => { parts.reset.disabled = plot.scales.x.min === xStart && plot.scales.x.max === xEnd; }],
      ready: [(plot) => plot.over.append(parts.tip)],
    },
  }, columns, parts.stage);

  const whole = () => u.setScale('x', {min: xStart, max: xEnd});
  u.setScale('x', {min: xStart, max: chart.xLimit ? Math.min(xEnd, 30 * chart.xLimit) : xEnd});
  parts.reset.addEventListener('click', whole);
  parts.stage.addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (event.key === 'Escape') mark(null);
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const order = rows();
    if (!order.length) return;
    const at = order.indexOf(marked);
    const next = order[at < 0 ? 0 : (at + step + order.length) % order.length];
    mark(next);
    parts.said.textContent = words(next).filter(Boolean).join('. ');
  });
  follow(u, parts.stage);
}

function drawDiamond(plot, point, colorName) {
  const {ctx} = plot;
  const [x, y] = [plot.valToPos(point.x, 'x', true), plot.valToPos(point.y, 'y', true)];
  const reach = 6 * devicePixelRatio * thickness();
  ctx.beginPath();
  ctx.moveTo(x, y - reach);
  ctx.lineTo(x + reach, y);
  ctx.lineTo(x, y + reach);
  ctx.lineTo(x - reach, y);
  ctx.closePath();
  ctx.fillStyle = color(`line-${colorName}`);
  ctx.strokeStyle = color('paper');
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.fill();
  ctx.stroke();
}

function yRange(least, most, isLog) {
  if (!Number.isFinite(least)) return [isLog ? 1 : 0, 10];
  return isLog ? [least * 0.85, most * 1.15] : [0, most * 1.08 || 1];
}

// Ticks at 1, 2 and 5 of each decade: as many as fit, the round ones first.
function steps(least, most) {
  const ticks = [];
  for (let decade = 10 ** Math.floor(Math.log10(least)); decade <= most; decade *= 10) {
    ticks.push(...[1, 2, 5].map((n) => n * decade).filter((tick) => tick >= least * 0.999 && tick <= most * 1.001));
  }
  return ticks.map((tick) => Number(tick.toPrecision(3)));
}

const logTicks = (plot) => steps(plot.scales.y.min, plot.scales.y.max);

function decades(plot, linearBelow) {
  const {min, max} = plot.scales.x;
  const ticks = steps(Math.max(min, linearBelow), max);
  const few = plot.width < 600 ? ticks.filter((tick) => /^0*\.?0*1/.test(String(tick))) : ticks;
  return min <= 0 ? [0, ...few] : few.length > 1 ? few : [min, max];
}
