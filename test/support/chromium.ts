/** The browser that pages are tested in: Chromium of the system, else the one of npm's `@sparticuz/chromium` where it is installed. */
import { existsSync } from 'node:fs'

const OF_THE_SYSTEM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** Not among the dependencies: 64 MB for those who have no other. A variable, so that nothing looks for its types. */
const PACKAGE: string = '@sparticuz/chromium'

/** With the libraries that it brings along in `LD_LIBRARY_PATH`, which it only sees to where it believes to run in a cloud function. */
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

/** So that it does nothing by itself. */
export const CHROMIUM_FLAGS: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
