/** Runs a program in this process and writes time and memory to descriptor 3: `measure.mjs <module> [arguments]`. */
import { writeSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const [, , module, ...rest] = process.argv
process.argv = [process.argv[0], module, ...rest]
process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  writeSync(3, JSON.stringify({ rssMb: maxRSS / 1024, cpuMs: (userCPUTime + systemCPUTime) / 1000 }))
})
await import(pathToFileURL(module).href)
