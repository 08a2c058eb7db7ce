import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noBrowser } from './browser.ts'
import { type Dashboard, go, openTestDashboard, sees } from './test-dashboard.ts'

describe.skipIf(noBrowser !== null)('the dashboard when the server stops and comes back', () => {
  let dashboard: Dashboard
  beforeAll(async () => {
    dashboard = await openTestDashboard()
  })
  afterAll(() => dashboard[Symbol.asyncDispose]())

  /** All problems except unanswered requests, because these tests cause those on purpose. */
  const otherProblems = () => dashboard.problems.splice(0).filter((one) => !/net::ERR_/.test(one))

  it('reports that a page cannot be loaded, and tries again on request', async () => {
    const page = await dashboard.window('/beliefs')
    await page.locator('.belief-row').first().waitFor()
    await page.route('**/api/v1/journal*', (route) => route.abort())
    await page.keyboard.press('7')
    const notice = page.locator('main').getByRole('alert')
    await notice.getByText('The server does not answer.').waitFor()
    await notice.getByText('Is the server still running in its terminal?').waitFor()
    await page.unroute('**/api/v1/journal*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.journal-row').first().waitFor()
    expect(otherProblems()).toEqual([])
    await page.context().close()
  })

  it('reports that the server is gone, keeps the page, and continues when it is back', async () => {
    const page = await dashboard.window('/beliefs')
    await page.locator('.belief-row').first().waitFor()
    await sees(page, 'Live')
    await dashboard.stop()
    const lost = page.locator('.toasts', { hasText: 'The server does not answer. Trying again…' })
    await lost.waitFor()
    expect(await page.locator('.belief-row').count()).toBeGreaterThan(5)
    await page.keyboard.press('7')
    await page.locator('main').getByRole('alert').waitFor()

    await dashboard.memoryAs().remember({ name: 'said meanwhile', content: 'While nobody listened.' })
    await dashboard.start()
    await page.locator('.journal-row', { hasText: 'said meanwhile' }).waitFor()
    await lost.waitFor({ state: 'detached' })
    await sees(page, 'Live')
    expect(otherProblems()).toEqual([])
    await page.context().close()
  })

  it('continues, with the typed text, when the link was opened in another tab', async () => {
    const page = await dashboard.window('/beliefs')
    const { id } = await dashboard.memoryAs().get('Redis')
    await go(page, `/beliefs/${id}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Why it matters' }).fill('half a sentence')
    await page.context().clearCookies()
    await dashboard.memoryAs().remember({ name: 'after the end', content: 'Nobody is signed in.' })
    await page.getByRole('heading', { name: 'Open your login link' }).waitFor()

    const other: Page = await page.context().newPage()
    await other.goto(dashboard.link)
    await other.locator('.shell').waitFor()
    await page.evaluate('dispatchEvent(new Event("focus"))')
    await page.getByRole('textbox', { name: 'Why it matters' }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Why it matters' }).inputValue()).toBe('half a sentence')
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(otherProblems()).toEqual([])
    await page.context().close()
  })
})
