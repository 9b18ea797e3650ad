#!/usr/bin/env node
/** Starts the program, with the code that was compiled last time where Node can keep it (22.1 and later). */
import { existsSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { dataDirectory, thisMachine } from '../lib/files/data-directory.ts'

// In our own folder: what lies in that of temporary files could be somebody else's.
const home = dataDirectory(thisMachine())
const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown }
if (existsSync(home)) enableCompileCache?.(join(home, 'compiled'))
await import('./main.ts')
