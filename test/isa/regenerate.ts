/** Writes src/isa/INSTRUCTIONS.md. Run: node test/isa/regenerate.ts */
import { writeFileSync } from 'node:fs';
import { instructionDocument } from './instruction-document.ts';

writeFileSync(new URL('../../src/isa/INSTRUCTIONS.md', import.meta.url), instructionDocument());
