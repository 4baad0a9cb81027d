#!/usr/bin/env python3
"""Runs the scenario `postmark` and PostMark (Debian's package `postmark`) by turns, each on an ext4 made anew on the same image.

    sudo tests/postmark_beside.py [--boatload PROGRAM] [--turns 9] [--transactions 100000] [--place DIR]

PostMark runs by its defaults in the working directory, and once more as `unbuffered`: without the buffers of the C library, in blocks
of 4 KiB, which are the requests of boatload. Two turns of the mix are one transaction. PostMark's own clock has whole seconds, so its
transactions are timed by what it says when they begin and end; its processor time is that of the process. Counts of system calls are
by strace: of a run, less those of one with a tenth of the transactions, which leaves out what happens once. Prints tables in Markdown."""
import argparse, collections, json, os, pathlib, re, shutil, statistics, subprocess, sys, tempfile, time

CALLS = {'openat': 'open', 'open': 'open', 'newfstatat': 'stat', 'fstat': 'stat', 'statx': 'stat', 'lseek': 'lseek', 'read': 'read',
         'write': 'write', 'close': 'close', 'unlink': 'unlink', 'unlinkat': 'unlink'}
SCENARIO = pathlib.Path(__file__).resolve().parent.parent / 'scenarios/postmark.toml'
OF_POSTMARK = {'PostMark': '', 'unbuffered': 'set buffering false\nset read 4096\nset write 4096\n'}
FIGURES = ['transactions a second', 'processor time, us', 'bytes of a read', 'bytes written']


class Bench:
    def __init__(self, boatload, place):
        self.boatload, self.place, self.mount = boatload, place, place / 'mount'
        self.mount.mkdir()
        subprocess.run(['truncate', '-s', '2G', place / 'image'], check=True)

    def on_new_ext4(self, work, *words):
        options = ['-q', '-F', '-E', 'lazy_itable_init=0,lazy_journal_init=0']
        subprocess.run(['mkfs.ext4', *options, self.place / 'image'], check=True)
        subprocess.run(['mount', '-o', 'loop', self.place / 'image', self.mount], check=True)
        os.sync()
        time.sleep(1)
        try:
            return work(*words)
        finally:
            subprocess.run(['umount', self.mount], check=True)

    def command(self, name, transactions):
        if name == 'boatload':
            return [self.boatload, 'run', SCENARIO, '--set', f'turns={2 * transactions}', '--repeats', '1', '--quiet', '--dir',
                    self.mount, '--store', self.place / 'store.db', '--json', self.place / 'run.json']
        lines = f'set number 500\nset transactions {transactions}\n{OF_POSTMARK[name]}run\nquit\n'
        (self.place / 'postmark.conf').write_text(lines)
        return ['postmark', self.place / 'postmark.conf']

    def figures(self, name, transactions):
        """As FIGURES has them; bytes written for each transaction, with the 500 first files."""
        command = self.command(name, transactions)
        return (self.of_boatload if name == 'boatload' else self.of_postmark)(command, transactions)

    def of_postmark(self, command, transactions):
        said, began, ended = b'', None, None
        with subprocess.Popen(command, cwd=self.mount, stdout=subprocess.PIPE) as process:
            while part := os.read(process.stdout.fileno(), 4096):
                now, said = time.monotonic(), said + part
                began = began or b'Performing transactions' in said and now
                ended = ended or b'Deleting files' in said and now
            used = os.wait4(process.pid, 0)[2]
        if not ended or b'out of files' in said:
            sys.exit(said.decode())
        read, read_mib, written_mib = (float(re.search(rf'([\d.]+) {word}', said.decode())[1])
                                       for word in ('read', 'megabytes read', 'megabytes written'))
        return [transactions / (ended - began), (used.ru_utime + used.ru_stime) / transactions * 1e6, read_mib * 2**20 / read,
                written_mib * 2**20 / transactions]

    def of_boatload(self, command, transactions):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        phases = {one['phase']: one for one in json.loads((self.place / 'run.json').read_text())['measurements']}
        mix, read = phases['serve'], phases['serve/read']
        written = sum(phases[name]['bytes'] for name in ('create', 'serve/create', 'serve/append'))
        used = mix['cpu_user_seconds'] + mix['cpu_system_seconds']
        return [transactions / mix['seconds'], used / transactions * 1e6, read['bytes'] / read['operations'], written / transactions]

    def calls(self, name, transactions):
        counts, log = collections.Counter(), self.place / 'strace.log'
        command = ['strace', '-f', '-c', '-o', log, *self.command(name, transactions)]
        subprocess.run(command, check=True, cwd=self.mount, stdout=subprocess.DEVNULL)
        for words in map(str.split, log.read_text().splitlines()):
            if words and words[-1] in CALLS:
                counts[CALLS[words[-1]]] += int(words[3])
        return counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--boatload', default='target/release/boatload')
    parser.add_argument('--turns', type=int, default=9)
    parser.add_argument('--transactions', type=int, default=100_000)
    parser.add_argument('--place')
    arguments = parser.parse_args()
    lacks = [name for name in ('postmark', 'strace', 'mkfs.ext4') if not shutil.which(name)]
    if os.geteuid() != 0 or lacks:
        sys.exit('skipped: ' + (f'no {", ".join(lacks)}' if lacks else 'it takes root'))
    place = pathlib.Path(tempfile.mkdtemp(prefix='postmark-beside-', dir=arguments.place)).resolve()
    bench, number, names = Bench(os.path.abspath(arguments.boatload), place), arguments.transactions, ['boatload', *OF_POSTMARK]
    turns = [{name: bench.on_new_ext4(bench.figures, name, number) for name in names} for _ in range(arguments.turns)]
    print('| | boatload | PostMark | unbuffered | boatload / PostMark | boatload / unbuffered |\n|---|---|---|---|---|---|')
    for at, figure in enumerate(FIGURES):
        cells = [f'{statistics.median(turn[name][at] for turn in turns):,.0f}' for name in names]
        for name in OF_POSTMARK:
            ratios = sorted(turn['boatload'][at] / turn[name][at] for turn in turns)
            cells.append(f'{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})')
        print(f'| {figure} | {" | ".join(cells)} |')
    counts = []
    for name in names:
        whole, tenth = (bench.on_new_ext4(bench.calls, name, count) for count in (number, number // 10))
        counts.append({call: (whole[call] - tenth[call]) / (number - number // 10) for call in CALLS.values()})
    print('\n| system calls, each transaction | boatload | PostMark | unbuffered |\n|---|---|---|---|')
    for call in dict.fromkeys(CALLS.values()):
        print(f'| {call} | {" | ".join(f"{abs(one[call]):.2f}" for one in counts)} |')
    shutil.rmtree(place)


if __name__ == '__main__':
    main()
