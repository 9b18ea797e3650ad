/** Reads every log below a folder as messages and discards them: `read-logs.mjs <folder> [agent]`. */
const { default: agent } = await import(`../dist/agents/${process.argv[3] ?? 'codex'}/agent.js`)

let messages = 0
for await (const source of agent.find(process.argv[2])) {
  for await (const batch of agent.read(source)) for (const one of batch) if (one.kind === 'message') messages++
}
console.log(messages)
