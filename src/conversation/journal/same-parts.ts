/** Whether two parts of states are the same: the same object, or written the same. */

import { type Codec, nullable, tuple, unsigned } from '../codec/codec.ts'
import { userMessage } from '../codec/message.ts'
import { fileLineTracker, modelInfo, summary, tools } from '../codec/metadata.ts'
import { checkpointManager, contextManager, conversationCheckpoint, extension } from '../codec/state.ts'
import { writeAs } from '../codec/write-state.ts'

type Comparator<T> = (a: T, b: T) => boolean

const sameWhenWritten =
  <T>(codec: Codec<T>): Comparator<T> =>
  (a, b) =>
    a === b || writeAs(codec, a) === writeAs(codec, b)

export const message = sameWhenWritten(nullable(userMessage))
export const summaries = sameWhenWritten(nullable(summary))
export const tangentCheckpoint = sameWhenWritten(conversationCheckpoint)
export const range = sameWhenWritten(tuple(unsigned, unsigned))
export const toolCatalogueTools = sameWhenWritten(tools)
export const context = sameWhenWritten(nullable(contextManager))
export const size = sameWhenWritten(nullable(unsigned))
export const model = sameWhenWritten(nullable(modelInfo))
export const tracker = sameWhenWritten(fileLineTracker)
export const manager = sameWhenWritten(nullable(checkpointManager))
export const ownExtension = sameWhenWritten(nullable(extension))
