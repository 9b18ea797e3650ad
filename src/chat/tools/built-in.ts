/** The tools that every conversation has. */

import { fsRead } from './files/fs-read.ts'
import { fsWrite } from './files/fs-write.ts'
import { globTool } from './files/glob-tool.ts'
import { grepTool } from './files/grep-tool.ts'
import type { SeenFiles } from './files/seen.ts'
import { executeBash, type Shell } from './shell/execute-bash.ts'
import type { ChatTool } from './tool.ts'

/**
 * @param seen what the model knows of the files, for as long as the conversation lasts
 * @param shell how commands are run; without it in no sandbox
 */
export const builtInTools = (seen: SeenFiles, shell?: Shell): readonly ChatTool[] => [
  fsRead(seen),
  fsWrite(seen),
  executeBash(shell),
  grepTool,
  globTool,
]
