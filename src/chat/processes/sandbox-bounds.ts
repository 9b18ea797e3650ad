/** The places that a sandbox lets a command see and write. */
import type { EnvironmentVariables } from './child-environment.ts'

export interface SandboxBounds {
  /** The project: commands may write here. */
  readonly cwd: string
  /** Temp of the sandbox. */
  readonly temp: string
  /** fumibako's data directory, which is hidden. */
  readonly data: string
  readonly home: string
  readonly variables: EnvironmentVariables
}
