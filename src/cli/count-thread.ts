/** Worker thread that counts logs beside the main one. Runs only from the built files. */
import { parentPort, workerData } from 'node:worker_threads'
import { loadAgent } from '../agents/load-agents.ts'
import { LogCounter } from './count-log.ts'
import { type CountedLog, type ThreadTask, takeTurn } from './count-totals.ts'

async function run({ sources, turns, options }: ThreadTask): Promise<void> {
  const counter = new LogCounter(options)
  for (let at = takeTurn(turns); at < sources.length; at = takeTurn(turns)) {
    const source = sources[at]
    if (!source) continue
    const counts = await counter.count(await loadAgent(source.agent), source, () => {})
    parentPort?.postMessage([at, counts] satisfies CountedLog)
  }
}

void run(workerData as ThreadTask)
