/** The pure parts of the Windows platform, on this machine: values, plain and under the address sanitizer. */
import t from 'tap';
import { compile, execute, PLAIN, SANITIZED } from '../helpers/native/program.ts';

t.setTimeout(280_000);

const PROGRAM = {
  folder: 'windows-parsers',
  sources: [
    'test/native/windows_parsers_test.cc',
    'native/firmware/parse_brand.cc',
    'native/firmware/parse_smbios.cc',
    'native/windows/sensors/parse_battery_status.cc',
    'native/windows/win32/parse_counters.cc',
    'native/windows/system/parse_windows.cc',
  ],
};

for (const variant of [PLAIN, ...SANITIZED.filter(({ name }) => name === 'address')])
  t.test(`what Windows says is understood (${variant.name})`, async (t) => {
    const missing = await compile(PROGRAM, variant);
    const outcome = missing === undefined ? await execute(PROGRAM, variant) : undefined;
    const skip = missing ?? false;
    t.ok(outcome?.isSuccess, variant.name, { skip, output: outcome?.text });
    t.match(outcome?.text, /^all well: 3\d checks$/m, 'all of them ran', { skip });
  });
