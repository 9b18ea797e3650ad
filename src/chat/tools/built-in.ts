/** The tools that every conversation has. */

import { fsRead } from './files/fs-read.ts'
import { fsWrite } from './files/fs-write.ts'
import { globTool } from './files/glob-tool.ts'
import { grepTool } from './files/grep-tool.ts'
import type { SeenFiles } from './files/seen.ts'
import { executeBash } from './shell/execute-bash.ts'
import type { ChatTool } from './tool.ts'

/** @param seen what the model knows of the files, for as long as the conversation lasts */
export const builtInTools = (seen: SeenFiles): readonly ChatTool[] => [
  fsRead(seen),
  fsWrite(seen),
  executeBash,
  grepTool,
  globTool,
]
