/** Documentation that `--emit` writes next to validators: how they are built and used. */
import { interposerBuildCommand } from '../../interposer/build-command.ts';

/** Names of the files in the folder of `--emit`. */
export const validatorsFile = 'selvage-validators.c';
export const interposerFolder = 'interposer';

/** Command that builds the validators in their folder with the host compiler, for a Unix shell. */
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
    'validators decide this for a launch before it starts. They return `false` for launches that they cannot decide.',
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
    'The interposer intercepts calls of the CUDA driver, and calls the validator of each kernel before its launch:',
    '',
    '```sh',
    'SELVAGE_IDEMPOTENCY_VALIDATORS=$PWD/selvage-validators.so SELVAGE_IDEMPOTENCY_LOG=launches.jsonl \\',
    '  LD_PRELOAD=$PWD/libselvage-idempotency.so ./program',
    '```',
    '',
    'The driver itself loads the library of `CUDA_INJECTION64_PATH`, but too late for programs that use the CUDA runtime,',
    'which has resolved its functions by then: the interposer reports this and does nothing. A program that calls the',
    'driver API by name needs `LD_PRELOAD` too.',
    '',
    'Validators are for code, not for names: rebuild them when the program is compiled again. `selvage-idempotency.h`',
    'declares what a scheduler or a checkpoint may register, and `selvage_launch`, with which a validator is called without',
    'the interposer.',
    '',
  ].join('\n');
}
