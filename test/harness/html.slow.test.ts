import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../temporary-directory.ts'
import { launchBrowser, noBrowser } from '../web/browser.ts'
import { pageOf, plantRuns } from './report-page.ts'

describe.skipIf(noBrowser !== null)('the report page in a real browser', () => {
  it('counts what its filters leave, and runs no text', async () => {
    using store = temporaryDirectory()
    plantRuns(store.path)
    const file = join(store.path, 'report.html')
    writeFileSync(file, await pageOf(store.path))
    await using browser = await launchBrowser()
    const page = await browser.newPage()

    await page.goto(pathToFileURL(file).href)
    await page.locator('#filter-verdict').selectOption('fail')

    expect(await page.locator('#filter-count').textContent()).toBe('1 of 2')
    expect(await page.evaluate('typeof window.broken')).toBe('undefined')
    expect(await page.locator('details').count()).toBe(2)
    expect(await page.locator('details[open]').count()).toBe(0)
    expect(await page.evaluate("performance.getEntriesByType('resource').length")).toBe(0)
  })
})
