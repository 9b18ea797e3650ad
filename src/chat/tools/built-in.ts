/** The tools that every conversation has. */

import { createFsRead } from './files/fs-read.ts'
import { createFsWrite } from './files/fs-write.ts'
import { globTool } from './files/glob-tool.ts'
import { grepTool } from './files/grep-tool.ts'
import type { SeenFiles } from './files/seen-files.ts'
import { createExecuteBash, type ShellOptions } from './shell/execute-bash.ts'
import type { ChatTool } from './tool.ts'

/**
 * @param seen what the model knows of the files, for as long as the conversation lasts
 * @param shell how commands are run; without it in no sandbox
 */
export const createBuiltInTools = (seen: SeenFiles, shell?: ShellOptions): readonly ChatTool[] => [
  createFsRead(seen),
  createFsWrite(seen),
  createExecuteBash(shell),
  grepTool,
  globTool,
]
