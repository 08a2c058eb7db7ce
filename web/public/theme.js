// Runs before the first paint, so that a chosen theme does not flash in the other one.
try {
  const chosen = localStorage.getItem('credence-theme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
} catch {
  // Storage may be off; the system's preference holds then.
}
