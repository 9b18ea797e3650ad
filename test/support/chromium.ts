/** The browser for page tests: the system's Chromium, otherwise npm's `@sparticuz/chromium` if installed. */
import { existsSync } from 'node:fs'

const OF_THE_SYSTEM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** Not a dependency, because it has 64 MB. A variable, so that its types are not required. */
const PACKAGE: string = '@sparticuz/chromium'

/** Adds its libraries to `LD_LIBRARY_PATH`, which the package itself does only in a cloud function. */
async function fromPackage(): Promise<string | undefined> {
  const before = process.env['AWS_EXECUTION_ENV']
  process.env['AWS_EXECUTION_ENV'] ??= 'AWS_Lambda_nodejs22.x'
  try {
    const { default: chromium } = (await import(PACKAGE)) as { default: { executablePath(): Promise<string> } }
    return await chromium.executablePath()
  } catch {
    return undefined
  } finally {
    if (before === undefined) delete process.env['AWS_EXECUTION_ENV']
  }
}

export const chromiumPath =
  process.env['FUMI_CHROMIUM'] ?? OF_THE_SYSTEM.find((path) => existsSync(path)) ?? (await fromPackage())
if (chromiumPath === undefined)
  console.log(
    'skipped: the page in a browser (no Chromium here: install it, or npm install --no-save @sparticuz/chromium@143)',
  )

/** Disables background activity. One process serves all pages of a context: starting one costs more than most tests. */
export const CHROMIUM_FLAGS: readonly string[] = [
  '--renderer-process-limit=1',
  '--disable-site-isolation-trials',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
