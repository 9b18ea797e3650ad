/** The examples below the help of a command. */
import { say } from '../language.ts'

export const formatExamples = (...commands: readonly string[]): string =>
  `\n${say('Examples:', '例:')}\n${commands.map((command) => `  ${command}`).join('\n')}`
