#!/usr/bin/env node
/** Starts the program. Keeps its compiled code for the next start. */
import { existsSync, readFileSync } from 'node:fs'
import module from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dataDirectory, thisMachine } from '../lib/files/data-directory.ts'
import { keepCompiledCode } from './compiled-code.ts'

/**
 * For `fumi mcp`, of which many processes run for hours and answer a few questions each. Memory counts more than time:
 * the heap collects garbage early, and only code that runs long is optimized.
 */
const SMALL_HEAP = [
  ...['--semi-space-growth-factor=1', '--optimize-for-size'],
  // V8 reports a flag that it does not know on standard error: later ones have no such budget.
  ...(process.versions.v8.startsWith('11.') ? ['--interrupt-budget=4000000'] : []),
]
const isSmall = process.argv[2] === 'mcp' && !/^[a-z]/.test(process.argv[3] ?? '')
// Before anything is compiled: code that was compiled with other flags cannot be used.
if (isSmall) {
  const { setFlagsFromString } = module.createRequire(import.meta.url)('node:v8') as typeof import('node:v8')
  for (const flag of SMALL_HEAP) setFlagsFromString(flag)
}
// In our own folder: in the temporary folder, another user could have written the code.
const home = dataDirectory(thisMachine())
const cache = join(home, 'compiled')
/** Node 22.1 and later. */
const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown }
if (existsSync(home)) {
  if (enableCompileCache) enableCompileCache(cache)
  else keepCompiledCode(cache, ...bundle(), isSmall ? '-small' : '')
}
void import('./main.ts').then(({ main }) => main())

/** The folder of the bundle, and a name for its content, which `tools/bundle.mjs` writes. */
function bundle(): readonly [folder: string, build: string] {
  const manifest = fileURLToPath(new URL('../bin/package.json', import.meta.url))
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  return [dirname(manifest), version]
}
