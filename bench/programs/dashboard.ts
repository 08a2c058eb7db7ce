import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Page } from 'playwright-core'
import { build } from 'vite'
import { createSandbox } from '../../test/cli/sandbox.ts'
import { serving } from '../../test/http/serving.ts'
import { FilledStores } from '../filled-stores.ts'

/**
 * Measures interaction to next paint in the dashboard over a large store: `node bench/programs/dashboard.ts 100000`. A second
 * argument names a memory directory that is already filled. The times come from the browser's Event Timing, from the key or click
 * to the next frame, in steps of 8 ms.
 */
const size = Number(process.argv[2] ?? 100_000)
const stores = new FilledStores()
const root = fileURLToPath(new URL('../..', import.meta.url))
await build({ configFile: join(root, 'web/vite.config.ts'), logLevel: 'error' })
const dir = process.argv[3] ?? (await stores.copyWithTurns(size, size)).dir
using place = createSandbox()
await using server = await serving(place, '--dir', dir)
const browser = await chromium.launch({
  executablePath: process.env.CREDENCE_CHROMIUM || '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu'],
})
const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
page.setDefaultTimeout(60_000)
await page.addInitScript(`
  globalThis.interactions = []
  new PerformanceObserver((list) => {
    for (const { name, duration, interactionId } of list.getEntries()) if (interactionId > 0) interactions.push({ name, duration })
  }).observe({ type: 'event', durationThreshold: 16, buffered: true })
  globalThis.tasks = []
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true })
`)
await page.goto(server.link.replace('/#', '/beliefs#'))
await page.locator('.belief-row').first().waitFor()

await measured('type a word into the search', async () => {
  await page.getByLabel('Search beliefs').pressSequentially('water', { delay: 60 })
  await page.locator('.belief-rows mark').first().waitFor()
})
await measured('clear it', async () => {
  await page.getByLabel('Search beliefs').fill('')
  await page.keyboard.press('End')
  await page.locator('.belief-rows mark').first().waitFor({ state: 'detached' })
})
await measured('filter by type', async () => {
  await page.getByLabel('Type').selectOption('decision')
  await idle(page)
  await page.getByLabel('Type').selectOption('')
  await idle(page)
})
await measured('scroll through 5,000 rows', async () => {
  for (let turn = 0; turn < 400; turn += 1) {
    await page.mouse.move(420, 600)
    await page.mouse.wheel(0, 2_000)
    await page.evaluate('new Promise((done) => requestAnimationFrame(done))')
    const reached = Number(
      await page.evaluate(
        `document.querySelector('.more-rows')?.textContent.replace(/,/g, '').match(/\\d+/)?.[0] ?? 0`,
      ),
    )
    if (reached >= 5_000) break
  }
})
await measured('open ten beliefs by j and by click', async () => {
  await page.evaluate('document.activeElement.blur()')
  for (let turn = 0; turn < 5; turn += 1) {
    await page.keyboard.press('j')
    await page.locator('.detail .content').waitFor()
    await idle(page)
  }
  for (let turn = 0; turn < 5; turn += 1) {
    await page
      .locator('.belief-link')
      .nth(turn + 3)
      .click()
    await idle(page)
  }
})
await page.goto(`${server.url}/conversations`)
await page.locator('.belief-row').first().waitFor()
await measured('search the turns and open one', async () => {
  await page.getByLabel('Search conversations').pressSequentially('water', { delay: 60 })
  await page.locator('.found-turn').first().waitFor()
  await page.locator('.found-turn .belief-link').first().click()
  await page.locator('.bubble.here').waitFor()
})
await browser.close()
stores.remove()

function idle(on: Page): Promise<void> {
  return on.waitForLoadState('networkidle')
}

/** Runs some work, and prints its longest interaction and the longest task of the page's thread (0: none above 50 ms). */
async function measured(name: string, work: () => Promise<void>): Promise<void> {
  await page.evaluate('interactions.length = 0, tasks.length = 0')
  await work()
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))')
  const { inp, count, task, rows } = await page.evaluate<Record<string, number>>(`({
    inp: Math.max(0, ...interactions.map(({ duration }) => duration)), count: interactions.length,
    task: Math.round(Math.max(0, ...tasks)), rows: document.querySelectorAll('.belief-row').length })`)
  console.log(JSON.stringify({ name, interactionToNextPaintMs: inp, interactions: count, longestTaskMs: task, rows }))
}
