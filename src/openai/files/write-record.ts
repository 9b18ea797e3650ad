/** The normal form as a record of a file. What was read from a form and is written in it again is what it was. */
import type { Fields } from '../../lib/unknown-values.ts'
import type { FileConversation, FileMessage } from './file-conversation.ts'
import { toShareGptEntries } from './forms/sharegpt.ts'

/** A bare list of messages. What stands beside them has no place in it. */
export const writeMessageArray = ({ branches: [main] }: FileConversation): readonly FileMessage[] => main.messages

/** `{messages, …}`, alone or on a line of its own as an example for fine-tuning. */
export const writeMessagesRecord = ({ branches: [main], header }: FileConversation): Fields => ({
  messages: main.messages,
  ...header,
})

/**
 * ShareGPT in its plain form: `human`, `gpt`, `system`, `function_call`, `observation`; a call's value is compact JSON
 * with the arguments as an object, where they are one.
 */
export const writeShareGptRecord = ({ branches: [main], header }: FileConversation): Fields => ({
  conversations: toShareGptEntries(main.messages),
  ...header,
})
