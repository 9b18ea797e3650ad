/** Whether two parts of states are the same: the same object, or written the same. */

import { userMessage } from '../codec/message.ts'
import { fileLineTracker, modelInfo, summary, tools } from '../codec/metadata.ts'
import { type Codec, nullable, tuple, unsigned } from '../codec/shape.ts'
import { checkpointManager, contextManager, conversationCheckpoint, extension } from '../codec/state.ts'
import { writeAs } from '../codec/write.ts'

type Same<T> = (a: T, b: T) => boolean

const written =
  <T>(codec: Codec<T>): Same<T> =>
  (a, b) =>
    a === b || writeAs(codec, a) === writeAs(codec, b)

export const message = written(nullable(userMessage))
export const summaries = written(nullable(summary))
export const checkpoint = written(conversationCheckpoint)
export const range = written(tuple(unsigned, unsigned))
export const offer = written(tools)
export const context = written(nullable(contextManager))
export const size = written(nullable(unsigned))
export const model = written(nullable(modelInfo))
export const tracker = written(fileLineTracker)
export const manager = written(nullable(checkpointManager))
export const added = written(nullable(extension))
