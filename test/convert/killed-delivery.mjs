/** Delivers a file to a store and is killed midway: `spawn` it with agent, file and home. */
import { allAgents } from '../../dist/agents/load-agents.js'

const [, , to, file, home] = process.argv
const agent = (await allAgents()).find(({ id }) => id === to)
const killed = () => process.kill(process.pid, 'SIGKILL')
await agent.deliver(file, {
  environment: { platform: 'linux', home, variables: {} },
  to,
  cwd: '/code',
  now: new Date(),
  lastAt: '2030-01-01T00:00:00.000Z',
  mayReplace: true,
  backup: { row: killed, file: killed },
})
