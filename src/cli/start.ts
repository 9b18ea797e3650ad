#!/usr/bin/env node
/** Starts the program, with Node's compile cache (22.1 and later). */
import { existsSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { dataDirectory, thisMachine } from '../lib/files/data-directory.ts'

// In our own folder: in the temporary folder, another user could have written the cache.
const home = dataDirectory(thisMachine())
const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown }
if (existsSync(home)) enableCompileCache?.(join(home, 'compiled'))
await import('./main.ts')
