/** Documentation that `--emit` writes next to validators: how they are built and used. */
import { interposerBuildCommand } from '../../idempotency/interposer/build-command.ts';

/** Names in the folder of `--emit`. */
export const validatorsFile = 'selvage-validators.c';
export const interposerFolder = 'interposer';

/** Builds the validators, in their folder, with the host compiler of a Unix shell. */
export const validatorsBuildCommand = `cc -std=c11 -O2 -shared -fPIC -o selvage-validators.so ${validatorsFile}`;

/**
 * The text of the file.
 * @param kernels each with its class in words
 */
export function emittedReadme(kernels: readonly { readonly name: string; readonly phrase: string }[]): string {
  return [
    '# Validators of idempotency',
    '',
    'A launch is idempotent if it may be stopped anywhere and run again, and memory is then as after one run. These',
    'validators say so of a launch before it is made. They answer `false` for all that they do not know.',
    '',
    ...kernels.map(({ name, phrase }) => `- \`${name}\`: ${phrase}`),
    '',
    '## Build',
    '',
    'In this folder, on Linux:',
    '',
    '```sh',
    validatorsBuildCommand,
    interposerBuildCommand(interposerFolder),
    '```',
    '',
    '## Use',
    '',
    'The interposer stands between a program and the CUDA driver, and asks the validator of each kernel before its launch:',
    '',
    '```sh',
    'SELVAGE_IDEMPOTENCY_VALIDATORS=$PWD/selvage-validators.so SELVAGE_IDEMPOTENCY_LOG=launches.jsonl \\',
    '  LD_PRELOAD=$PWD/libselvage-idempotency.so ./program',
    '```',
    '',
    "`CUDA_INJECTION64_PATH` is the driver's own way to load a library. It comes too late for programs that use the CUDA",
    'runtime, which has taken its functions by then: the interposer says so and does nothing. A program that calls the',
    'driver API by name needs `LD_PRELOAD` too.',
    '',
    'Validators are for code, not for names: build them anew where the program is compiled anew. `selvage-idempotency.h`',
    'declares what a scheduler or a checkpoint may register, and `selvage_launch`, with which a validator is called without',
    'the interposer.',
    '',
  ].join('\n');
}
