import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { noBrowser } from './browser.ts'
import { type Dashboard, go, openTestDashboard, sees } from './test-dashboard.ts'

/** Texts that would set a flag if the page executed them. */
const attacks = [
  '<img src=x onerror="globalThis.hacked=1">',
  '<script>globalThis.hacked=2</script>',
  '"><svg onload="globalThis.hacked=3">',
  "javascript:globalThis.hacked=4//'",
  '{{constructor.constructor("globalThis.hacked=5")()}}',
]
const attack = attacks.join(' ')

describe.skipIf(noBrowser !== null)('the dashboard and unauthorised visitors', () => {
  let dashboard: Dashboard
  beforeAll(async () => {
    dashboard = await openTestDashboard()
  })
  afterAll(() => dashboard[Symbol.asyncDispose]())
  afterEach(() => expect(dashboard.problems.splice(0)).toEqual([]))

  it('admits a person with the link, and removes the token from the address immediately', async () => {
    const page = await dashboard.stranger()
    await page.goto(dashboard.link)
    await page.locator('.shell').waitFor()
    expect(page.url()).toBe(`${dashboard.url}/`)
    expect(await page.evaluate('history.length')).toBeLessThanOrEqual(2)
    expect(await page.evaluate('document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)')).toBe(
      '{}{}',
    )
    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
    await page.reload()
    await page.locator('.shell').waitFor()
  })

  it('explains to a person without the link how to get one, and reports a wrong token', async () => {
    const page = await dashboard.stranger({ viewport: { width: 360, height: 700 } })
    await page.goto(`${dashboard.url}/recall`)
    await page.getByRole('heading', { name: 'Open your login link' }).waitFor()
    await sees(page, 'Stop the server and start it again in the terminal. It prints a link that works.')
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await page.goto(`${dashboard.url}/#token=wrong`)
    await page.reload()
    await page.goto(`${dashboard.url}/journal#token=wrong`)
    await page.getByRole('alert').getByText('token').waitFor()
    expect(page.url()).not.toContain('wrong')
  })

  it('asks for the link again when the session ends', async () => {
    const page = await dashboard.window('/journal')
    await page.locator('.journal-row').first().waitFor()
    await page.context().clearCookies()
    await dashboard.memoryAs().remember({ name: 'after the end', content: 'Nobody is signed in.' })
    await page.getByRole('heading', { name: 'Open your login link' }).waitFor()
  })

  it('executes no stored text, wherever it is shown', async () => {
    const agent = dashboard.memoryAs({ actor: 'agent', origin: attack.slice(0, 100) })
    const { belief } = await dashboard.memoryAs({ actor: 'person', origin: attack.slice(0, 100) }).remember({
      name: `<b>bold</b> ${attacks[0]}`,
      content: attack,
      why: attack,
      aliases: attacks.slice(1, 3),
      scopes: ['project:ledger'],
      type: 'relation',
      relation: attacks[1] as string,
      participants: [attacks[2] as string],
      model: attack.slice(0, 100),
      sourceId: attack.slice(0, 100),
    })
    await agent.correct(belief.id, { content: `${attack} proposed` })
    const page = await dashboard.window(`/beliefs/${belief.id}`)

    await page.locator('.content', { hasText: attacks[0] as string }).waitFor()
    await page.locator('.proposal', { hasText: 'proposed' }).first().waitFor()
    await unharmed(page)
    await page.getByLabel('Search beliefs').fill('globalThis.hacked')
    await page.locator('.belief-row mark').first().waitFor()
    await unharmed(page)

    await go(page, '/recall')
    await page.getByRole('textbox', { name: 'Message' }).fill(`Tell me about ${belief.name} and ${attack}`)
    await page.locator('.recalled-name', { hasText: '<b>bold</b>' }).first().waitFor()
    await page
      .getByRole('button', { name: `Should not be here: ${belief.name}` })
      .first()
      .click()
    await page.getByRole('dialog').locator('.remedy').first().waitFor()
    await unharmed(page)
    await page.getByRole('button', { name: 'Only save the case' }).click()
    await sees(page, 'Saved as the case')

    await go(page, '/journal')
    await page.locator('.journal-row', { hasText: '<b>bold</b>' }).first().waitFor()
    await unharmed(page)
    await page.locator('.journal-row', { hasText: '<b>bold</b>' }).first().getByText('What changed').click()
    await page.locator('.journal-change').first().waitFor()
    await unharmed(page)
    await dashboard
      .memoryAs()
      .hear([{ text: `Harbour ${attack}`, session: attack.slice(0, 100), speaker: attack.slice(0, 100) }])
    for (const [path, ready] of [
      ['/evaluation/packs/my-cases', '.page-head'],
      ['/', '.example'],
      ['/review', '.review-card'],
      [`/conversations/${encodeURIComponent(attack.slice(0, 100))}`, '.bubble'],
      ['/conversations?q=harbour', '.found-turn'],
      ['/growth', '.plot'],
    ] as const) {
      await go(page, path)
      await page.locator(ready).first().waitFor()
      await unharmed(page)
    }
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Page, belief' }).fill('bold')
    await page
      .getByRole('option', { name: /<b>bold/ })
      .first()
      .waitFor()
    await unharmed(page)
  })

  it('executes no text typed into its own fields', async () => {
    const page = await dashboard.window('/beliefs')
    await page.keyboard.press('n')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill(`typed ${attacks[0]}`)
    await dialog.getByLabel('What is true').fill(attack)
    await dialog.getByLabel('Why it matters').fill(attack)
    await dialog.getByLabel('Other names').fill(attacks[2] as string)
    await dialog.getByLabel('Scope').fill(attacks[0] as string)
    await dialog.getByRole('button', { name: 'Remember' }).click()
    await dialog.getByRole('alert').waitFor()
    await unharmed(page)
    await dialog.getByLabel('Scope').fill('project:ledger')
    await dialog.getByRole('button', { name: 'Remember' }).click()
    await page.locator('.content', { hasText: attacks[1] as string }).waitFor()
    await page.getByRole('textbox', { name: 'Add alias' }).fill(attacks[1] as string)
    await page.keyboard.press('Enter')
    await page
      .getByRole('button', { name: /^Remove alias/ })
      .nth(1)
      .waitFor()
    await unharmed(page)

    for (const path of [
      `/beliefs/${encodeURIComponent(attack)}`,
      `/beliefs?q=${encodeURIComponent(attack)}&scope=${encodeURIComponent(attack)}&type=${encodeURIComponent(attack)}`,
      `/evaluation/runs/${encodeURIComponent(attack)}`,
      `/evaluation/packs/${encodeURIComponent(attack)}`,
      `/evaluation/compare?before=${encodeURIComponent(attack)}&after=${encodeURIComponent(attack)}`,
      '/beliefs/%E0%A4%A',
    ]) {
      await go(page, path)
      await page
        .locator('main')
        .getByText(/not here|no pack|Nothing matches|Try again|See all packs|no such page/)
        .first()
        .waitFor()
      await unharmed(page)
    }
  })

  it('has a policy that allows no inline script, style or markup', async () => {
    const page = await dashboard.stranger()
    const response = await page.goto(dashboard.url)
    const policy = response?.headers()['content-security-policy'] ?? ''
    expect(policy).not.toContain('unsafe')
    expect(policy).toContain("require-trusted-types-for 'script'")
    expect(policy).toContain("default-src 'none'")
  })

  const unharmed = async (page: Page): Promise<void> => {
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined()
    expect(await page.locator('main img, main script, main b b, main iframe').count()).toBe(0)
  }
})
