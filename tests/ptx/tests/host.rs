//! What a launch uses of the host: output of `printf`, and memory that both access.

use croq_ptx::machine::{EntryCall, Global, Host, Launch, Program};

/// Collects what is printed, and writes a word of mapped memory when it is asked the third time.
#[derive(Default)]
struct Recorder {
    text: String,
    pauses: u32,
    word: u64,
}

impl Host for Recorder {
    fn print(&mut self, text: &[u8]) {
        self.text.push_str(&String::from_utf8_lossy(text));
    }

    fn pause(&mut self, global: &mut Global) -> Result<(), String> {
        self.pauses += 1;
        if self.pauses == 3 {
            let place = global.get_mut(self.word, 4, 4).unwrap();
            place.copy_from_slice(&7_u32.to_le_bytes());
        }
        match self.pauses {
            100 => Err("the host ends the launch".to_owned()),
            _ => Ok(()),
        }
    }
}

fn run(text: &str, block: u32, arguments: &[&[u8]], recorder: &mut Recorder) -> Result<(), String> {
    let mut global = Global::default();
    if recorder.word != 0 {
        global.map_host("word", recorder.word, 4)?;
    }
    let program = Program::load(text, &mut global).map_err(|error| error.to_string())?;
    let launch = Launch {
        block: [block, 1, 1],
        ..Launch::default()
    };
    let call = EntryCall {
        entry: "entry",
        launch: &launch,
        arguments,
    };
    let done = program.launch(&call, &mut global, recorder);
    done.map(|_| ()).map_err(|report| report.to_string())
}

const PRINTS: &str = r#"
.version 9.0
.target sm_90a
.address_size 64
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 format[17] = {37, 100, 58, 32, 37, 115, 32, 37, 46, 50, 102, 32, 37, 37, 10, 0, 0};
.global .align 1 .b8 word[3] = {97, 98, 0};
.entry entry(.param .u64 out)
{
    .local .align 8 .b8 depot[24];
    .reg .b64 %p, %a, %f, %out;
    .reg .b32 %t, %n;
    .reg .f64 %d;
    mov.u64 %p, depot;
    cvta.local.u64 %a, %p;
    mov.u32 %t, %tid.x;
    st.local.u32 [%p], %t;
    mov.u64 %f, word;
    cvta.global.u64 %f, %f;
    st.local.u64 [%p+8], %f;
    mov.f64 %d, 0d3FF8000000000000;
    st.local.f64 [%p+16], %d;
    mov.u64 %f, format;
    cvta.global.u64 %f, %f;
    {
    .param .b64 param0;
    st.param.b64 [param0], %f;
    .param .b64 param1;
    st.param.b64 [param1], %a;
    .param .b32 retval0;
    call.uni (retval0), vprintf, (param0, param1);
    ld.param.b32 %n, [retval0];
    }
    setp.ne.s32 %q, %n, 3;
    @%q trap;
    ret;
}
"#;

#[test]
fn threads_print() {
    let text = PRINTS.replace(".reg .b32 %t, %n;", ".reg .b32 %t, %n; .reg .pred %q;");
    let mut recorder = Recorder::default();
    run(&text, 2, &[&[0; 8]], &mut recorder).unwrap();
    assert_eq!(recorder.text, "0: ab 1.50 %\n1: ab 1.50 %\n");
    // 37, 100 is `%d`; `%n` is refused.
    let other = text.replace("{37, 100, 58", "{37, 110, 58");
    let error = run(&other, 1, &[&[0; 8]], &mut Recorder::default()).unwrap_err();
    assert!(error.contains("`printf` with `%n`"), "{error}");
    let other = text.replace("vprintf", "malloc");
    let error = run(&other, 1, &[&[0; 8]], &mut Recorder::default()).unwrap_err();
    assert!(error.contains("a call of `malloc`"), "{error}");
}

/// A thread waits for a word that the host writes while the kernel runs.
#[test]
fn a_kernel_waits_for_the_host() {
    let text = "
.version 9.0
.target sm_90a
.entry entry(.param .u64 word)
{
    .reg .b64 %a; .reg .b32 %v; .reg .pred %p;
    ld.param.u64 %a, [word];
AGAIN:
    ld.acquire.sys.global.u32 %v, [%a];
    nanosleep.u32 200;
    setp.ne.u32 %p, %v, 7;
    @%p bra AGAIN;
    ret;
}";
    let mut recorder = Recorder {
        word: 0x7fff_0000_0000,
        ..Recorder::default()
    };
    let word = recorder.word.to_le_bytes();
    run(text, 32, &[&word], &mut recorder).unwrap();
    assert_eq!(recorder.pauses, 3);
    let mut late = Recorder {
        word: 0x7fff_0000_0000,
        pauses: 3,
        ..Recorder::default()
    };
    let error = run(text, 32, &[&word], &mut late).unwrap_err();
    assert!(error.starts_with("the host ends the launch"), "{error}");
}
