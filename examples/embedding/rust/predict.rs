// predict PREFIX: threads call one predictor; prints the outputs for batches of 1 to 4 rows. No crates are needed:
//   rustc -O predict.rs -L "$(pkg-config --variable=libdir paddle_mini)" -l paddle_mini
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::{env, process, ptr, slice, thread};

const INPUTS: usize = 6;
const BATCHES: usize = 4;
const FLOAT32: i32 = 5;

/// pm_tensor; NULL and 0 for what does not apply.
#[repr(C)]
struct Tensor {
    data: *const c_void,
    bytes: usize,
    dtype: i32,
    rank: i32,
    shape: [i64; 9],
    strides: *const i64,
    lod: *const c_void,
    lod_levels: usize,
    rows: *const i64,
    row_count: usize,
    height: i64,
}

extern "C" {
    fn pm_last_error() -> *const c_char;
    fn pm_release(handle: u64) -> c_int;
    fn pm_values_create(values: *mut u64) -> c_int;
    fn pm_values_get(values: u64, index: usize, element: usize, tensor: *mut Tensor) -> c_int;
    fn pm_predictor_load(prefix: *const c_char, options: *const c_void, check: c_int, predictor: *mut u64) -> c_int;
    fn pm_predictor_run(predictor: u64, inputs: *const Tensor, count: usize, outputs: u64) -> c_int;
}

/// The message belongs to the thread that made the call.
fn check(status: c_int) -> Result<(), String> {
    if status == 0 {
        return Ok(());
    }
    Err(unsafe { CStr::from_ptr(pm_last_error()) }.to_string_lossy().into_owned())
}

/// Owns a handle.
struct Handle(u64);
impl Drop for Handle {
    fn drop(&mut self) {
        unsafe { pm_release(self.0) };
    }
}

struct Predictor(Handle);

impl Predictor {
    fn load(prefix: &str) -> Result<Self, String> {
        let path = CString::new(prefix).map_err(|error| error.to_string())?;
        let mut made = Handle(0);
        check(unsafe { pm_predictor_load(path.as_ptr(), ptr::null(), 0, &mut made.0) })?;
        Ok(Predictor(made))
    }

    /// A copy of the first output; `x` is read where it is.
    fn run(&self, x: &[f32], rows: usize) -> Result<Vec<f32>, String> {
        let mut values = Handle(0);
        check(unsafe { pm_values_create(&mut values.0) })?;
        let mut tensor = Tensor {
            data: x.as_ptr().cast(),
            bytes: std::mem::size_of_val(x),
            dtype: FLOAT32,
            rank: 2,
            shape: [0; 9],
            strides: ptr::null(),
            lod: ptr::null(),
            lod_levels: 0,
            rows: ptr::null(),
            row_count: 0,
            height: 0,
        };
        tensor.shape[0] = rows as i64;
        tensor.shape[1] = INPUTS as i64;
        check(unsafe { pm_predictor_run(self.0 .0, &tensor, 1, values.0) })?;
        check(unsafe { pm_values_get(values.0, 0, 0, &mut tensor) })?;
        assert_eq!(tensor.dtype, FLOAT32);
        Ok(unsafe { slice::from_raw_parts(tensor.data.cast(), tensor.bytes / 4) }.to_vec())
    }
}

fn run(prefix: &str) -> Result<(), String> {
    let predictor = Predictor::load(prefix)?;
    let outputs: Vec<Result<Vec<f32>, String>> = thread::scope(|threads| {
        let started: Vec<_> = (1..=BATCHES)
            .map(|rows| {
                let predictor = &predictor;
                threads.spawn(move || {
                    let x: Vec<f32> = (0..rows * INPUTS).map(|i| i as f32 / 8.0).collect();
                    predictor.run(&x, rows)
                })
            })
            .collect();
        started.into_iter().map(|one| one.join().unwrap_or_else(|_| Err("a thread has failed".into()))).collect()
    });
    for output in outputs {
        for value in output? {
            println!("{value:.6}");
        }
    }
    Ok(())
}

fn main() {
    let Some(prefix) = env::args().nth(1) else {
        eprintln!("usage: predict PREFIX");
        process::exit(2);
    };
    if let Err(message) = run(&prefix) {
        eprintln!("predict: {message}");
        process::exit(1);
    }
}
