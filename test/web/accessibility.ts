/** Automatic checks for accessibility. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

/** Evaluated instead of inserted, because the page's policy blocks foreign scripts. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const EXAMINE = `(async () => {
  const { violations } = await axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations'], preload: false })
  return violations.map(({ id, nodes }) =>
    id + ': ' + nodes.slice(0, 3).map(({ html, failureSummary }) => html + ' ' + failureSummary).join('; '))
})()`

export async function barriersOn(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE)
  return page.evaluate<string[]>(EXAMINE)
}
