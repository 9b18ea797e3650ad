/** All tools, in the order in which clients list them. */
import { about } from './about.ts'
import { handoff } from './handoff.ts'
import { list } from './list.ts'
import { read } from './read.ts'
import { search } from './search.ts'
import type { Tool } from './tool.ts'
import { usage } from './usage.ts'

export const TOOLS: readonly Tool[] = [search, read, about, list, usage, handoff]
