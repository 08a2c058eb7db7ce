import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { build } from 'vite'
import { createSandbox } from '../../test/cli/sandbox.ts'
import { serving } from '../../test/http/serving.ts'

/**
 * Measures the first load of the dashboard on slow 3G, 400 kbit/s with 400 ms latency, with an empty cache: `node
 * bench/programs/slow-network.ts`. Prints the first and the largest contentful paint and the time until the memory's first answer
 * is on the page, in milliseconds; also the largest element, the layout shift, and the transferred bytes.
 */
const root = fileURLToPath(new URL('../..', import.meta.url))
await build({ configFile: join(root, 'web/vite.config.ts'), logLevel: 'error' })
using place = createSandbox()
await using server = await serving(place, '--demo')
const browser = await chromium.launch({
  executablePath: process.env.CREDENCE_CHROMIUM || '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu'],
})
for (const [path, ready] of [
  ['/', '.example'],
  ['/beliefs', '.belief-row'],
  ['/evaluation', '.pack-row'],
] as const) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  await page.addInitScript(`
    globalThis.shift = 0
    new PerformanceObserver((list) => { for (const { value } of list.getEntries()) shift += value })
      .observe({ type: 'layout-shift', buffered: true })
    new PerformanceObserver((list) => { globalThis.largest = list.getEntries().at(-1) })
      .observe({ type: 'largest-contentful-paint', buffered: true })
  `)
  const devtools = await context.newCDPSession(page)
  await devtools.send('Network.enable')
  let bytes = 0
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  const throughput = 400_000 / 8
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 400,
    downloadThroughput: throughput,
    uploadThroughput: throughput,
  })
  await page.goto(server.link.replace('/#', `${path}#`), { waitUntil: 'commit' })
  await page.locator(ready).first().waitFor()
  const answered = await page.evaluate<number>('performance.now()')
  await page.waitForLoadState('networkidle')
  const paints = await page.evaluate<Record<string, number | string>>(`({
    firstContentMs: Math.round(performance.getEntriesByName('first-contentful-paint')[0].startTime),
    largestContentMs: Math.round(largest.startTime), largest: largest.element?.className || largest.element?.tagName,
    layoutShift: shift })`)
  console.log(JSON.stringify({ path, ...paints, answerMs: Math.round(answered), bytes }))
  await context.close()
}
await browser.close()
