/** Reads every log below a folder as messages and throws them away. */
import codex from '../dist/agents/codex/agent.js'

let messages = 0
for await (const source of codex.find(process.argv[2])) {
  for await (const batch of codex.read(source)) for (const one of batch) if (one.kind === 'message') messages++
}
console.log(messages)
