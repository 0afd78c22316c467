// The page around the plots: theme, and drawing each plot when it comes near.

const theme = document.getElementById('theme');
const preferred = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : preferred.matches);

function remembered(...value) {  // a page from a disk may have no storage
  try {
    return value.length ? localStorage.setItem('gputide-theme', value[0]) : localStorage.getItem('gputide-theme');
  } catch {
    return null;
  }
}

function onTheme() {
  theme.textContent = isDark() ? theme.dataset.light : theme.dataset.dark;
  plots.forEach((plot) => plot.redraw(false, true));
}

function draw(host) {
  if (host.dataset.drawn) return;
  host.dataset.drawn = 'yes';
  const chart = JSON.parse(document.getElementById(host.dataset.chart).textContent);
  if (chart.kind === 'lines') drawLines(host, chart);
  else drawScatter(host, chart);
}

if (['dark', 'light'].includes(remembered())) root.dataset.theme = remembered();
theme.hidden = false;
theme.addEventListener('click', () => {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  remembered(root.dataset.theme);
  onTheme();
});
preferred.addEventListener('change', onTheme);
onTheme();

const hosts = document.querySelectorAll('.plot');
const near = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    near.unobserve(entry.target);
    draw(entry.target);
  }
}, {rootMargin: '1000px'});
hosts.forEach((host) => near.observe(host));

let shownTheme = null;
addEventListener('beforeprint', () => {  // paper is light
  shownTheme = root.dataset.theme || '';
  root.dataset.theme = 'light';
  hosts.forEach(draw);
  onTheme();
});
addEventListener('afterprint', () => {
  if (shownTheme) root.dataset.theme = shownTheme;
  else delete root.dataset.theme;
  onTheme();
});
